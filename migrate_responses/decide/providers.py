"""Who else serves an OpenAI-compatible API, and what is known of ``/responses`` there.

A plain table. It decides nothing: a client at any of these hosts is held back until the user vouches
for it; the row only lets the message say what to expect. Dates are those the sources show.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import SplitResult

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "::1", "host.docker.internal"})
AZURE_HOSTS = (
    "openai.azure.com",
    "cognitiveservices.azure.com",
    "services.ai.azure.com",
    "openai.azure.us",
    "openai.azure.cn",
)


@dataclass(frozen=True)
class Provider:
    """A server: ``serves`` is yes, partly, no or unknown; ``hosts`` are ``host[:port][/path]``.

    A host matches itself and what lies below it, and may hold ``*``; ``local`` stands for this machine.
    """

    name: str
    serves: str
    hosts: tuple[str, ...]
    since: str = ""
    gaps: str = ""
    source: str = ""
    date: str = ""

    @property
    def known(self) -> str:
        """What is known of ``/responses`` there, in one clause."""
        text = {
            "yes": "serves /responses",
            "partly": "serves part of /responses",
            "no": "has no /responses",
            "unknown": "is not known to serve /responses",
        }[self.serves]
        if self.since:
            text += f" since {self.since}"
        return f"{text}, {self.gaps}" if self.gaps else text


PROVIDERS: tuple[Provider, ...] = (
    Provider(
        "ChatGPT's Codex backend",
        "partly",
        ("chatgpt.com/backend-api/codex",),
        gaps="only with store=False and stream=True",
        source="https://github.com/openai/openai-python/issues/3312",
        date="2026-05-27",
    ),
    Provider(
        "OpenRouter",
        "yes",
        ("openrouter.ai",),
        since="2025",
        gaps="stateless: store=True is refused",
        source="https://www.openrouter.ai/docs/api_reference/responses/error-handling",
    ),
    Provider(
        "Groq",
        "yes",
        ("api.groq.com",),
        gaps="mostly compatible",
        source="https://www.developersdigest.tech/reference/api-compatibility/groq",
    ),
    Provider(
        "Together",
        "partly",
        ("api.together.ai", "api.together.xyz"),
        gaps="no stored responses, some models only",
        source="https://docs.together.ai/docs/inference/responses",
    ),
    Provider(
        "Fireworks",
        "yes",
        ("api.fireworks.ai",),
        gaps="other retention of stored responses",
        source="https://docs.fireworks.ai/guides/response-api",
    ),
    Provider(
        "DeepSeek",
        "yes",
        ("api.deepseek.com",),
        since="2026-07-31",
        gaps="stateless, and reasoning must be passed back",
        source="https://api-docs.deepseek.com/guides/responses_api",
    ),
    Provider(
        "Mistral",
        "yes",
        ("api.mistral.ai",),
        since="2026",
        gaps="stateless, unknown fields are refused",
        source="https://docs.mistral.ai/inference/conversations",
    ),
    Provider(
        "Anthropic",
        "no",
        ("api.anthropic.com",),
        gaps="only Chat Completions is documented",
        source="https://platform.claude.com/docs/en/api/openai-sdk",
    ),
    Provider(
        "Gemini",
        "no",
        ("generativelanguage.googleapis.com",),
        gaps="404 as of June 2026",
        source="https://github.com/ryantsai/KKTerm/pull/353",
        date="2026-06-15",
    ),
    Provider(
        "Vertex AI",
        "partly",
        ("*aiplatform.googleapis.com",),
        since="2026",
        gaps="for OpenAI's and xAI's models",
        source="https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/partner-models/grok/responses",
    ),
    Provider(
        "xAI",
        "yes",
        ("api.x.ai",),
        gaps="no metadata",
        source="https://docs.x.ai/developers/model-capabilities/text/comparison",
    ),
    Provider(
        "Perplexity",
        "yes",
        ("api.perplexity.ai",),
        since="2026",
        gaps="with other model names, always agentic",
        source="https://docs.perplexity.ai/docs/agent-api/openai-compatibility.md",
    ),
    Provider(
        "Cohere",
        "no",
        ("api.cohere.ai", "api.cohere.com"),
        gaps="only Chat Completions is documented",
        source="https://docs.cohere.com/docs/compatibility-api",
    ),
    Provider(
        "Hugging Face",
        "yes",
        ("router.huggingface.co",),
        since="2025-10",
        gaps="in beta, built on Chat Completions",
        source="https://huggingface.co/docs/inference-providers/guides/responses-api",
        date="2025-10-08",
    ),
    Provider(
        "GitHub Models",
        "no",
        ("models.github.ai", "models.inference.ai.azure.com"),
        gaps="retired on 2026-07-30",
        source="https://github.blog/changelog/2026-07-01-github-models-is-being-fully-retired-on-july-30-2026/",
        date="2026-07-01",
    ),
    Provider(
        "Databricks",
        "partly",
        ("cloud.databricks.com", "azuredatabricks.net", "gcp.databricks.com"),
        gaps="in beta, for OpenAI's models",
        source="https://docs.databricks.com/gcp/en/generative-ai/foundation-models/openai-responses",
    ),
    Provider(
        "Bedrock",
        "yes",
        ("bedrock-runtime.*.amazonaws.com",),
        since="2026-06",
        gaps="no server tools, no background",
        source="https://docs.aws.amazon.com/bedrock/latest/userguide/inference-responses-api.html",
    ),
    Provider(
        "Bedrock Mantle",
        "yes",
        ("bedrock-mantle.*.api.aws",),
        since="late 2025",
        gaps="with a path that depends on the model",
        source="https://docs.aws.amazon.com/bedrock/latest/userguide/inference-responses-api.html",
    ),
    Provider(
        "Cerebras",
        "no",
        ("api.cerebras.ai",),
        gaps="only Chat Completions is documented",
        source="https://www.developersdigest.tech/reference/api-compatibility/cerebras",
    ),
    Provider(
        "NVIDIA's hosted API",
        "no",
        ("integrate.api.nvidia.com",),
        gaps="404 as of June 2026",
        source="https://github.com/ryantsai/KKTerm/pull/353",
        date="2026-06-15",
    ),
    Provider(
        "SambaNova",
        "yes",
        ("api.sambanova.ai",),
        gaps="stateless, function tools and few models only",
        source="https://docs.sambanova.ai/docs/en/features/responses.md",
    ),
    Provider(
        "Moonshot",
        "no",
        ("api.moonshot.ai", "api.moonshot.cn"),
        gaps="only Chat Completions is documented",
        source="https://ngrok.com/docs/ai-gateway/providers/moonshotai",
    ),
    Provider(
        "DashScope",
        "yes",
        ("dashscope.aliyuncs.com", "dashscope-*.aliyuncs.com", "maas.aliyuncs.com"),
        since="2026-02",
        gaps="under another base path, instructions are ignored",
        source="https://www.alibabacloud.com/help/en/model-studio/compatibility-with-openai-responses-api",
        date="2026-02-17",
    ),
    Provider(
        "Zhipu BigModel",
        "yes",
        ("open.bigmodel.cn",),
        since="2026",
        gaps="not confirmed by the vendor's documentation",
        source="https://github.com/BerriAI/litellm",
    ),
    Provider("Z.ai", "unknown", ("api.z.ai",)),
    Provider(
        "SiliconFlow",
        "no",
        ("api.siliconflow.cn", "api.siliconflow.com"),
        gaps="only Chat Completions is documented",
        source="https://docs.siliconflow.cn/docs/userguide/quickstart",
    ),
    Provider(
        "Volcengine Ark",
        "yes",
        ("ark.*.volces.com",),
        gaps="each input item needs a status",
        source="https://github.com/Oaklight/llm-rosetta/pull/650",
        date="2026-09-07",
    ),
    Provider(
        "MiniMax",
        "no",
        ("api.minimax.io", "api.minimax.com", "api.minimax.chat", "api.minimaxi.com"),
        gaps="404 as of April 2026",
        source="https://github.com/MiniMax-AI/MiniMax-M2/issues/112",
        date="2026-04-16",
    ),
    Provider(
        "Scaleway",
        "no",
        ("api.scaleway.ai",),
        gaps="422 as of June 2026",
        source="https://github.com/data-fair/agents/pull/44",
    ),
    Provider(
        "Upstage",
        "yes",
        ("api.upstage.ai",),
        gaps="stateless, text only",
        source="https://console.upstage.ai/api/responses.md",
    ),
    Provider(
        "Snowflake Cortex",
        "partly",
        ("snowflakecomputing.com",),
        since="2026-10-23",
        gaps="in preview, stateless, for OpenAI's models",
        source="https://docs.snowflake.com/release-notes/2026/other/2026-10-23-cortex-rest-api-responses-api",
        date="2026-10-23",
    ),
    Provider(
        "DigitalOcean",
        "partly",
        ("inference.do-ai.run",),
        gaps="nothing is stored",
        source="https://github.com/digitalocean/gradient-python/issues/96",
        date="2026-05-20",
    ),
    # Gateways
    Provider(
        "Portkey",
        "yes",
        ("api.portkey.ai", "aigw.portkey.ai"),
        gaps="translated for most models",
        source="https://portkey.ai/docs/product/ai-gateway/responses-api.md",
    ),
    Provider(
        "Cloudflare",
        "yes",
        ("api.cloudflare.com",),
        since="2026-05-21",
        source="https://developers.cloudflare.com/changelog/post/2026-05-21-rest-api/",
        date="2026-05-21",
    ),
    Provider(
        "Cloudflare's older gateway",
        "no",
        ("gateway.ai.cloudflare.com",),
        gaps="only Chat Completions is documented",
        source="https://developers.cloudflare.com/changelog/post/2026-05-21-rest-api/",
        date="2026-05-21",
    ),
    Provider(
        "Vercel AI Gateway",
        "yes",
        ("ai-gateway.vercel.sh",),
        source="https://vercel.com/docs/ai-gateway",
        date="2026-10-03",
    ),
    Provider("Eden AI", "yes", ("api.edenai.run",), gaps="stateful for OpenAI's models only"),
    Provider("orq.ai", "yes", ("api.orq.ai",), gaps="stateful for OpenAI's models only"),
    Provider("Inworld", "yes", ("api.inworld.ai",), gaps="stateful for OpenAI's models only"),
    # Local servers, by the port they listen on unless told otherwise
    Provider(
        "Ollama",
        "yes",
        ("local:11434", "ollama.com"),
        since="0.13.3",
        gaps="stateless",
        source="https://github.com/ollama/ollama/issues/13595",
        date="2025-12",
    ),
    Provider(
        "LM Studio or mistral.rs",
        "yes",
        ("local:1234",),
        since="LM Studio 0.3.29",
        source="https://lmstudio.ai/blog/lmstudio-v0.3.29",
        date="2025-10-06",
    ),
    Provider(
        "a local vLLM or NVIDIA NIM",
        "yes",
        ("local:8000",),
        since="2025-08",
        gaps="without stored responses by default",
        source="https://github.com/vllm-project/vllm/pull/22137",
        date="2025-08-03",
    ),
    Provider(
        "a local SGLang",
        "partly",
        ("local:30000",),
        gaps="streamed tool calls are missing",
        source="https://github.com/sgl-project/sglang/pull/14189",
    ),
    Provider(
        "a local llama.cpp, LocalAI or mlx-vlm",
        "yes",
        ("local:8080",),
        since="2026",
        gaps="stateless in llama.cpp",
        source="https://github.com/mudler/LocalAI/pull/8063",
        date="2026-01-16",
    ),
    Provider(
        "a local LiteLLM proxy",
        "yes",
        ("local:4000",),
        gaps="bridged through Chat Completions for most models",
        source="https://docs.litellm.ai/docs/response_api_native_passthrough",
    ),
    Provider("a local TGI or OpenLLM", "unknown", ("local:3000",)),
    Provider("text-generation-webui", "unknown", ("local:5000",)),
    Provider("KoboldCpp", "unknown", ("local:5001",)),
    Provider(
        "Xinference",
        "no",
        ("local:9997",),
        gaps="the request for it was closed",
        source="https://github.com/xorbitsai/inference/issues/5066",
        date="2026-06",
    ),
    Provider(
        "Foundry Local",
        "unknown",
        ("local:5273",),
        source="https://github.com/microsoft/foundry-local/issues/271",
    ),
)

# Names of models that OpenAI does not serve: the beginning of the name (lower case). A name with a
# slash is a router's or a model hub's, one with a size after a colon is Ollama's.
FOREIGN_MODELS = re.compile(
    r"abab|baichuan|chatglm|claude|codegemma|codellama|codestral|command-[ar]|deepseek|devstral|dolphin|doubao"
    r"|ernie|falcon|gemini|gemma|glm-|gpt-oss|granite|grok|hermes|hunyuan|internlm|jamba|kimi|llama|llava"
    r"|magistral|minicpm|minimax|ministral|mistral|mixtral|moonshot|nemotron|nous-|openchat|orca|phi-|phi[34]"
    r"|pixtral|qvq|qwen|qwq|smollm|solar|sonar|stablelm|starling|step-|tinyllama|vicuna|wizard|yi-|zephyr"
)


def find(url: SplitResult) -> Provider | None:
    """The provider that answers at ``url``, if it is in the table."""
    host = (url.hostname or "").lower()
    try:
        port = url.port
    except ValueError:
        port = None
    for provider in PROVIDERS:
        if any(_matches(pattern, host, port, url.path) for pattern in provider.hosts):
            return provider
    return None


def is_openai(host: str) -> bool:
    """Whether ``host`` is OpenAI's own, data residency included."""
    return below(host, "api.openai.com")


def is_azure(host: str) -> bool:
    """Whether ``host`` is a resource of Azure OpenAI."""
    return any(below(host, suffix) for suffix in AZURE_HOSTS)


def is_foreign_model(name: str) -> bool:
    """Whether a model called ``name`` is certainly not served by OpenAI."""
    name = name.strip().lower()
    tag = name.partition(":")[2]
    return FOREIGN_MODELS.match(name) is not None or "/" in name or tag == "latest" or tag[:1].isdigit()


def below(host: str, suffix: str) -> bool:
    """Whether ``host`` is ``suffix`` or a subdomain of it; ``suffix`` may hold ``*``."""
    if "*" in suffix:
        return fnmatchcase(host, suffix) or fnmatchcase(host, f"*.{suffix}")
    return host == suffix or host.endswith(f".{suffix}")


def _matches(pattern: str, host: str, port: int | None, path: str) -> bool:
    name, _, prefix = pattern.partition("/")
    name, _, wanted = name.partition(":")
    if wanted and (port is None or str(port) != wanted):
        return False
    if name == "local":
        return host in LOCAL_HOSTS
    return below(host, name) and (not prefix or path.strip("/").startswith(prefix))
