"""0xx: entry points, clients and endpoints."""

from __future__ import annotations

from migrate_responses.rulebook.rule import GUIDE, MANUAL, NOTE, PROJECT, SAFE, Rule

AZURE = "https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses"
AZURE_V1 = "https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle"

CLIENTS: tuple[Rule, ...] = (
    Rule(
        "MR001",
        "Entry point",
        SAFE,
        "`chat.completions` becomes `responses` on a client that provably comes from the OpenAI SDK"
        " and talks to an endpoint that serves the Responses API. `beta.` falls away; `create`,"
        " `parse` and `stream` keep their names, and so do `with_raw_response` and"
        " `with_streaming_response`.",
        "answer = client.chat.completions.create(model=MODEL, messages=messages)",
        "answer = client.responses.create(model=MODEL, input=messages, store=False)",
        GUIDE,
    ),
    Rule(
        "MR010",
        "Client not resolved",
        MANUAL,
        "The call is spelled like Chat Completions, but where its client comes from could not be"
        " followed, and many SDKs share the spelling. Annotate it (`client: OpenAI`), or vouch for"
        " the name with `--assume-client NAME`. Where it can be any SDK's, the call is reported without a"
        " comment.",
        "def ask(llm, question):\n"
        "    return llm.chat.completions.create(model=MODEL, messages=as_messages(question))",
        "def ask(llm: OpenAI, question):\n"
        "    return llm.responses.create(model=MODEL, input=as_messages(question), store=False)",
        PROJECT,
        step="annotate the client (`client: OpenAI`), or use migrate-responses apply --assume-client NAME",
    ),
    Rule(
        "MR011",
        "Another SDK with the same spelling",
        NOTE,
        "The client belongs to another package (Groq, Together, LiteLLM, Cerebras, Mistral, Hugging Face and"
        " others copy the spelling). It is not the OpenAI API, so it is left as it is.",
        "from groq import Groq\n\nGroq().chat.completions.create(model=MODEL, messages=messages)",
        "from groq import Groq\n\nGroq().chat.completions.create(model=MODEL, messages=messages)",
        PROJECT,
    ),
    Rule(
        "MR012",
        "Client wrapped by Instructor",
        NOTE,
        "A client patched by `instructor`, or a call with `response_model=`, is driven by that library's own"
        " protocol. Migrate it by choosing one of Instructor's Responses modes; this tool leaves it alone.",
        "client = instructor.from_openai(OpenAI())\n"
        "client.chat.completions.create(response_model=User, messages=messages)",
        "client = instructor.from_openai(OpenAI(), mode=instructor.Mode.RESPONSES_TOOLS)\n"
        "client.chat.completions.create(response_model=User, messages=messages)",
        "https://python.useinstructor.com/integrations/openai-responses/",
    ),
    Rule(
        "MR013",
        "Drop-in module",
        NOTE,
        "The module stands in for `openai` (`from langfuse.openai import openai`,"
        " `gptcache.adapter`). What it records or caches depends on the API called, so it is left;"
        " check that it covers Responses, then switch by hand.",
        "from langfuse.openai import openai",
        "",
        PROJECT,
    ),
    Rule(
        "MR014",
        "Local or vendored `openai`",
        NOTE,
        "The project has its own module or a vendored copy called `openai`. It is not the SDK, whatever its"
        " methods are called, so calls through it are left.",
        "from . import openai",
        "",
        PROJECT,
    ),
    Rule(
        "MR015",
        "API key in the code",
        NOTE,
        "A key of OpenAI or Azure is written in the code, and with it in its history and wherever that is"
        " copied. Nothing is changed on its account: read the key from the environment (the SDK looks for"
        " `OPENAI_API_KEY` by itself), and revoke this one. Reports show it as `***`.",
        'client = OpenAI(api_key="sk-...")',
        "client = OpenAI()",
        "https://platform.openai.com/docs/api-reference/authentication",
        step="read it from the environment, and revoke this one",
    ),
    Rule(
        "MR020",
        "Another host",
        MANUAL,
        "The client's `base_url` names a host that is not OpenAI. Many OpenAI-compatible servers have no"
        " `/responses` route, or serve part of it. If yours does, say so once with"
        " `--assume-responses URL`.",
        'client = OpenAI(base_url="http://localhost:11434/v1")',
        'client = OpenAI(base_url="http://localhost:11434/v1")  # with --assume-responses localhost:11434',
        "https://github.com/posit-dev/chatlas/issues/285",
        step="if your server has /responses: migrate-responses apply --assume-responses HOST",
    ),
    Rule(
        "MR021",
        "Base URL known only at run time",
        MANUAL,
        "The client's `base_url` is computed when the program runs (an environment variable of your"
        " own, a setting, a parameter), so nobody can tell from the source whether that server has"
        " `/responses`. If it does, run again with `--assume-responses dynamic`. The SDK's own"
        " `OPENAI_BASE_URL` does not count as computed.",
        'client = OpenAI(base_url=os.environ["LLM_URL"])',
        'client = OpenAI(base_url=os.environ["LLM_URL"])  # with --assume-responses dynamic',
        "https://github.com/langchain-ai/deepagents/issues/3973",
        step="if that server has /responses: migrate-responses apply --assume-responses dynamic",
    ),
    Rule(
        "MR022",
        "Azure API version without Responses",
        MANUAL,
        "Azure serves Responses from `2025-03-01-preview` on; older versions and the dated GA"
        " versions answer 400 or 404. Raise `api_version`, or better use the v1 endpoint, which"
        " needs none; then run again.",
        'client = AzureOpenAI(azure_endpoint=ENDPOINT, api_version="2024-10-21")',
        'client = OpenAI(base_url=f"{ENDPOINT}/openai/v1/", api_key=KEY)',
        "https://github.com/Aider-AI/aider/issues/4029",
        step="raise it to 2025-03-01-preview, or use the v1 endpoint",
    ),
    Rule(
        "MR023",
        "Azure API version unknown",
        MANUAL,
        "The Azure `api_version` is omitted or comes from the environment, so it may be older than"
        " `2025-03-01-preview`, the first with Responses. If it is not, run again with"
        " `--assume-responses azure`.",
        'client = AzureOpenAI(azure_endpoint=ENDPOINT, api_version=os.environ["API_VERSION"])',
        'client = OpenAI(base_url=f"{ENDPOINT}/openai/v1/", api_key=KEY)',
        AZURE,
        step="if it is 2025-03-01-preview or newer: migrate-responses apply --assume-responses azure",
    ),
    Rule(
        "MR024",
        "Azure deployment in the client",
        MANUAL,
        "A deployment named in the client (`azure_deployment=`, or `/deployments/NAME` in"
        " `base_url`) is part of Chat Completions' URL only: for Responses the SDK ignores the"
        " first, and the second leads nowhere. Give the deployment as `model=` in the calls and"
        " take it out of the client; then run again.",
        'client = AzureOpenAI(azure_endpoint=ENDPOINT, azure_deployment="prod")\n'
        'client.chat.completions.create(model="gpt-4o", messages=messages)',
        'client = OpenAI(base_url=f"{ENDPOINT}/openai/v1/", api_key=KEY)\n'
        'client.responses.create(model="prod", input=messages, store=False)',
        AZURE_V1,
        step="name the deployment in `model=` instead",
    ),
    Rule(
        "MR025",
        "Model of another vendor",
        MANUAL,
        "The model's name belongs to another vendor (`deepseek-chat`, `llama3`, `claude-...`), so"
        " the client must reach a compatible server at run time even though none is named. If that"
        " server has `/responses`, name it with `--assume-responses`.",
        'client.chat.completions.create(model="deepseek-chat", messages=messages)',
        "",
        PROJECT,
        step="if its server has /responses: migrate-responses apply --assume-responses HOST",
    ),
    Rule(
        "MR026",
        "Model for Chat Completions only",
        MANUAL,
        "`*-search-preview` and `*-audio*` models answer on Chat Completions only. Choose another model first"
        " (with the `web_search` tool for search); audio stays where it is.",
        'client.chat.completions.create(model="gpt-4o-search-preview", messages=messages)',
        "client.responses.create(\n"
        '    model="gpt-4.1", input=messages, tools=[{"type": "web_search"}], store=False\n'
        ")",
        "https://developers.openai.com/api/docs/guides/tools-web-search",
        step="choose a model that Responses serves",
    ),
    Rule(
        "MR030",
        "OpenAI 0.x call",
        MANUAL,
        "`openai.ChatCompletion` was removed in version 1.0 of the SDK. Move to the 1.x client"
        " first; this tool takes it from there.",
        'openai.ChatCompletion.create(model=MODEL, messages=messages)["choices"][0]["message"]["content"]',
        "client.responses.create(model=MODEL, input=messages, store=False).output_text",
        "https://github.com/openai/openai-python/discussions/742",
        step="move to the client of openai 1.x first",
    ),
    Rule(
        "MR031",
        "Legacy Completions",
        MANUAL,
        "`client.completions.create(prompt=...)` is the older text API, with models of its own."
        " Choose a model that serves Responses and write `input=` by hand.",
        'client.completions.create(model="gpt-3.5-turbo-instruct", prompt=text).choices[0].text',
        "client.responses.create(model=MODEL, input=text, store=False).output_text",
        GUIDE,
        step="choose a newer model and write `input=`",
    ),
    Rule(
        "MR032",
        "Raw HTTP to /chat/completions",
        MANUAL,
        "A request built by hand needs another URL, another body and another path into the answer's"
        " JSON, which has no `output_text`. Use the SDK, or rewrite the three together.",
        'requests.post(f"{BASE}/chat/completions", json={"model": MODEL, "messages": messages})',
        'requests.post(f"{BASE}/responses", json={"model": MODEL, "input": messages, "store": False})',
        GUIDE,
        step="use the SDK, or rewrite URL, body and answer together",
    ),
    Rule(
        "MR033",
        "Stored completions",
        MANUAL,
        "`chat.completions.list/retrieve/update/delete` and `.messages` read completions stored by"
        " Chat. Stored responses live elsewhere and have no listing; what was stored by Chat stays"
        " readable only there.",
        "client.chat.completions.retrieve(completion_id)",
        "client.responses.retrieve(response_id)",
        "openai.resources.responses.Responses.retrieve",
        step="leave it: what Chat Completions stored is readable only there",
    ),
    Rule(
        "MR034",
        "Reference that cannot be followed",
        MANUAL,
        "`create` (or `chat`, or `completions`) is taken from the client without being called in"
        " sight, and where it is called could not be found. Call it directly, or migrate both ends"
        " by hand.",
        'register("llm", client.chat.completions.create)',
        'register("llm", client.responses.create)',
        PROJECT,
        step="call it directly, or migrate it by hand",
    ),
    Rule(
        "MR035",
        "Batch",
        MANUAL,
        "A batch names its endpoint, holds one request body a line, and its answers are read from a file: the"
        " three change together or not at all. `/v1/responses` is accepted as endpoint.",
        'client.batches.create(endpoint="/v1/chat/completions", input_file_id=FILE, completion_window="24h")',
        'client.batches.create(endpoint="/v1/responses", input_file_id=FILE, completion_window="24h")',
        "https://developers.openai.com/api/docs/guides/batch",
        step="change endpoint, bodies and reading together",
    ),
    Rule(
        "MR036",
        "Client resource handed on",
        MANUAL,
        "The resource `client.chat` or `client.chat.completions` itself is passed to code that is"
        " not understood, which may call anything on it. Pass the client instead, or migrate that"
        " code by hand.",
        "agent = Agent(backend=client.chat.completions)",
        "",
        PROJECT,
        step="pass the client instead, or migrate it by hand",
    ),
)
