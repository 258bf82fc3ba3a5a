"""A local stand-in for the OpenAI endpoint, and a harness that runs programs against it.

``server`` plays one script of assistant turns over both Chat Completions and Responses, refuses what the
real endpoint refuses, and logs every request in one protocol-neutral form. ``harness`` runs a program with
the real ``openai`` package against it. A program and its migration must show the same output and send the
same requests.
"""
