"""Programs that use Chat Completions, put together at random from what such programs are made of.

A way to the client, a way of asking, messages, options, a way that the answer goes, and what is read of it: each piece
knows nothing of the others, so the combinations are thousands. ``programs.programs()`` is the Hypothesis strategy.
"""
