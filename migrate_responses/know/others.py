"""Other packages than the SDK: whose clients copy its spelling, and what theirs surely cannot do."""

from __future__ import annotations

import re
import sys

from . import models

# Packages whose clients copy the spelling.
SDKS = frozenset(
    {
        *("ai21", "aisuite", "anthropic", "any_llm", "cerebras", "cohere", "dashscope", "fireworks", "g4f"),
        *("groq", "huggingface_hub", "litellm", "llama_api_client", "llama_cpp", "llama_stack_client"),
        *("lmstudio", "mistralai", "ollama", "openrouter", "perplexity", "portkey_ai", "qianfan", "reka"),
        *("replicate", "sambanova", "together", "upstage", "volcenginesdkarkruntime", "writerai", "xai_sdk"),
        *("zai", "zhipuai"),
    }
)
# What is of the standard library or a framework has no API of its own: it holds what the project gives it.
CARRIERS = sys.stdlib_module_names | {
    *("attr", "attrs", "celery", "chainlit", "click", "dependency_injector", "discord", "django", "fastapi"),
    *("flask", "gradio", "injector", "lazy_object_proxy", "lagom", "litestar", "nicegui", "omegaconf"),
    *("pydantic", "pydantic_settings", "pytest", "quart", "sanic", "sqlalchemy", "sqlmodel", "starlette"),
    *("streamlit", "telegram", "typer", "typing_extensions", "werkzeug", "wrapt"),
}
_INSTANCE = re.compile(rf"\w[\w.]*\.[A-Z]\w*\(\)(\.({'|'.join(sorted(models.STEPS))}))*")
# Clients, with attributes on the way to a Chat Completions call that they have not: reading one raises.
_LACKING = re.compile(
    r"anthropic\.(Async)?Anthropic\w*\(\)\.chat"
    r"|google\.(genai\.Client|generativeai\.GenerativeModel)\(\)\.chat"
    r"|boto3\.(client|Session\(\)\.client|session\.Session\(\)\.client)\(\)\.chat"
    r"|cohere\.(Async)?Client(V2)?\(\)\.chat\.completions"
    r"|ollama\.(Async)?Client\(\)\.chat\.completions"
)
# Methods of other clients: a client of the SDK has none of that name.
NOT_OF_SDK = frozenset({"messages", "generate_content", "invoke_model", "converse"})
_REMOVED = re.compile(r"openai\.(ChatCompletion|Completion)\.a?create")


def is_other_client(path: str) -> bool:
    """Whether ``path`` is certainly an object with an API of its own, and not the SDK's.

    What a function returns and what an object holds could be anything; an instance of another
    package's class is its own.
    """
    root = path.partition(".")[0]
    return root != "openai" and root not in CARRIERS and _INSTANCE.fullmatch(path) is not None


def is_foreign(path: str) -> bool:
    """Whether ``path`` is of an SDK, a wrapper or a drop-in module that is known, or of any other client."""
    return (
        path.partition(".")[0] in SDKS
        or path.startswith((*models.DROP_IN_MODULES, *models.INSTRUCTOR))
        or is_other_client(path)
    )


def lacks(path: str, name: str) -> bool:
    """Whether the client at ``path`` surely has no attribute ``name``."""
    return _LACKING.fullmatch(f"{path}.{name}") is not None


def cannot_chat(path: str) -> bool:
    """Whether a Chat Completions call on the client at ``path`` surely raises."""
    return lacks(path, "chat") or lacks(f"{path}.chat", "completions")


def is_removed(path: str) -> bool:
    """Whether a call of ``path`` raises in every version of the SDK that has client classes."""
    return _REMOVED.fullmatch(path) is not None
