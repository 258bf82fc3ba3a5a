"""Move Python code from OpenAI's Chat Completions API to the Responses API."""

__version__ = "0.1.0"
