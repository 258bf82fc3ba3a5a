"""Uses that are spelled like Chat Completions and are no sites: what each is, and what becomes of it."""

from __future__ import annotations

import pytest

from migrate_responses.config import Settings
from migrate_responses.decide.endpoints import judge_site
from migrate_responses.decide.lookalikes import Leftover, leftovers
from migrate_responses.results import Level, Verdict
from tests.programs import project

ARGS = '(model="gpt-4o", messages=[])\n'
CHAIN = f"client.chat.completions.create{ARGS}"


def found(source: str, **others: str) -> list[Leftover]:
    known = project(main=source, **others)
    return [item for item in leftovers(known) if item.module.path == "main.py"]


def codes(source: str, **others: str) -> list[str]:
    return [item.reason.code for item in found(source, **others)]


@pytest.mark.parametrize(
    ("origin", "code"),
    [
        ("from groq import Groq\nclient = Groq()", "MR011"),
        ("from groq import AsyncGroq as OpenAI\nclient = OpenAI()", "MR011"),
        ("import together\nclient = together.Together(api_key='x')", "MR011"),
        ("from acme import Acme\nclient = Acme().with_key('x')", "MR010"),
        ("from acme import Acme\nclient = Acme()", "MR011"),
        ("import instructor\nfrom openai import OpenAI\nclient = instructor.from_openai(OpenAI())", "MR012"),
        ("from langfuse.openai import openai as client", "MR013"),
        ("from langfuse.openai import AsyncOpenAI\nclient = AsyncOpenAI()", "MR013"),
        ("from acme import get_client\nclient = get_client()", "MR010"),
        ("import acme\nclient = acme.client", "MR010"),
        (
            "from databricks.sdk import WorkspaceClient\nclient = WorkspaceClient().get_open_ai_client()",
            "MR010",
        ),
        ("", "MR010"),
    ],
)
def test_who_the_client_belongs_to(origin: str, code: str) -> None:
    (item,) = found(f"{origin}\n{CHAIN}")
    assert item.reason.code == code
    assert item.text == "client.chat.completions.create"
    expected = (Level.MANUAL, Verdict.MANUAL) if code == "MR010" else (Level.NOTE, Verdict.LEFT)
    assert (item.reason.level, item.verdict) == expected


@pytest.mark.parametrize(
    "method", ["create", "parse", "stream", "with_raw_response.create", "with_streaming_response.parse"]
)
def test_each_method_is_seen(method: str) -> None:
    for root in ("llm.chat", "llm.beta.chat"):
        (item,) = found(f"def ask(llm):\n    return {root}.completions.{method}{ARGS}")
        assert item.reason.code == "MR010"
        assert "`llm`" in item.reason.detail


def test_a_site_is_no_leftover() -> None:
    assert codes(f"from openai import OpenAI\nclient = OpenAI()\n{CHAIN}") == []


def test_annotated_with_another_sdk() -> None:
    assert codes(f"from groq import Groq\ndef ask(client: Groq):\n    return {CHAIN}") == ["MR011"]


def test_response_model_gives_instructor_away() -> None:
    source = "from infra import client\nclient.chat.completions.create(response_model=int, messages=[])\n"
    assert codes(source) == ["MR012"]


def test_own_class_and_own_package() -> None:
    own = "class {0}:\n    def __init__(self):\n        self.chat = object()\n"
    assert codes(f"{own.format('OpenAI')}client = OpenAI()\n{CHAIN}") == ["MR011"]
    (item,) = found(f"from openai import OpenAI\nclient = OpenAI()\n{CHAIN}", openai=own.format("OpenAI"))
    assert item.reason.code == "MR014"
    assert "openai.py" in item.reason.detail


def test_unresolved_completions() -> None:
    assert codes(f"def ask(chat):\n    return chat.completions.create{ARGS}") == ["MR010"]
    assert codes(f"def ask(api):\n    return api.completions.create{ARGS}") == ["MR010"]
    assert codes("def ask(api):\n    return api.completions.create(word='x')\n") == []


# -- handles -----------------------------------------------------------------------------

OPENAI = "from openai import OpenAI\nimport registry\nclient = OpenAI()\n"


@pytest.mark.parametrize(
    ("use", "code"),
    [
        ("registry.add(client.chat.completions.create)", "MR034"),
        ("TABLE = {'a': client.chat.completions.create}", "MR034"),
        ("registry.wrap(client.beta.chat.completions.parse)('x')", "MR034"),
        ("registry.add(client.chat.completions)", "MR036"),
        ("exec('client.chat.completions.create()')", "MR034"),
        ("import operator\noperator.attrgetter('chat.completions.create')(client)(model='x')", "MR034"),
        ("registry.add(chat=client.chat)", "MR036"),
    ],
)
def test_handles_that_cannot_be_followed(use: str, code: str) -> None:
    (item,) = found(f"{OPENAI}{use}\n")
    assert (item.reason.code, item.verdict) == (code, Verdict.MANUAL)


@pytest.mark.parametrize(
    "use",
    [
        f"create = client.chat.completions.create\ncreate{ARGS}",
        "import functools\nask = functools.partial(client.chat.completions.create, model='gpt-4o')\nask()\n",
        "import asyncio\nasyncio.run(asyncio.to_thread(client.chat.completions.create, model='gpt-4o'))\n",
        f"chat = client.chat\nchat.completions.create{ARGS}",
        "registry.add(client)\n",
    ],
)
def test_handles_that_are_followed(use: str) -> None:
    assert codes(f"{OPENAI}{use}") == []


def test_stored_completions() -> None:
    for call in ("list()", "retrieve('x')", "delete('x')", "messages.list('x')"):
        (item,) = found(f"{OPENAI}client.chat.completions.{call}\n")
        assert (item.reason.code, item.verdict) == ("MR033", Verdict.MANUAL)


def test_methods_that_the_sdk_does_not_have() -> None:
    for call in ("chat.completions.acreate", "chat.completions.creat", "chat.completion.create"):
        (item,) = found(f"{OPENAI}client.{call}{ARGS}")
        assert (item.reason.code, item.verdict) == ("MR308", Verdict.MANUAL)
    given = f"client.chat.completions.acreate = registry.ask\nclient.chat.completions.acreate{ARGS}"
    assert "MR308" not in codes(f"{OPENAI}{given}")


# -- older APIs --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"import openai\nopenai.ChatCompletion.create{ARGS}", ["MR030"]),
        (f"import openai as ai\nai.ChatCompletion.acreate{ARGS}", ["MR030"]),
        (f"from openai import ChatCompletion\nChatCompletion.create{ARGS}", ["MR030"]),
        ("import openai, backoff\nbackoff.run(openai.ChatCompletion.create)\n", ["MR030"]),
        (f"from gptcache.adapter import openai\nopenai.ChatCompletion.create{ARGS}", ["MR013"]),
        ("import openai\nopenai.Completion.create(prompt='x')\n", ["MR031"]),
        ("import openai\nopenai.completions.create(prompt='x')\n", ["MR031"]),
        (f"{OPENAI}client.completions.create(prompt='x')\n", ["MR031"]),
        ("from groq import Groq\nGroq().completions.create(prompt='x')\n", []),
        (f"class ChatCompletion:\n    pass\nChatCompletion.create{ARGS}", []),
        (f"for openai in found():\n    openai.ChatCompletion.create{ARGS}", ["MR030"]),
        (f"for vendor in found():\n    vendor.ChatCompletion.create{ARGS}", []),
    ],
)
def test_older_apis(source: str, expected: list[str]) -> None:
    assert codes(source) == expected


# -- raw HTTP and batches ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('import requests\nrequests.post("https://api.openai.com/v1/chat/completions", json={})', ["MR032"]),
        ('import httpx\nhttpx.post(f"{BASE}/chat/completions")', ["MR032"]),
        ('URL = "https://api.openai.com/v1/chat/completions"', ["MR032"]),
        ('import requests\nP = {"a": "/chat/completions"}\nrequests.post(base + P["a"], json={})', ["MR032"]),
        (
            'import httpx\nclass C:\n    P = "chat/completions"\n    def f(self): httpx.post(self.P)',
            ["MR032"],
        ),
        ('URL = "https://api.openai.com/v1/chat/completions"\nimport httpx\nhttpx.post(URL)', ["MR032"]),
        ('import httpx\nP = "/embeddings"\nC = "/chat/completions"\nhttpx.post(P)', []),
        ('url += "/chat/completions"', ["MR032"]),
        ('import requests\nrequests.post("/".join([base, "chat", "completions"]), json={})', ["MR032"]),
        ('url = "{}/chat/completions".format(base)', ["MR032"]),
        ('url = base + "/chat/completions"', ["MR032"]),
        ('url = f"{e}/openai/deployments/{d}/chat/completions?api-version={v}"', ["MR032"]),
        ('async def f(session):\n    await session.post("/v1/chat/completions")', ["MR032"]),
        ('URL = "https://api.groq.com/openai/v1/chat/completions"', ["MR011"]),
        ('@app.post("/v1/chat/completions")\ndef route():\n    pass', []),
        ('if path == "/v1/chat/completions":\n    pass', []),
        ('url = url.removesuffix("/chat/completions")', []),
        ('print("https://api.openai.com/v1/chat/completions")', []),
        ('"""See https://api.openai.com/v1/chat/completions"""', []),
        ('import respx\nrespx.post("https://api.openai.com/v1/chat/completions")', ["MR803"]),
        (
            'def test(httpx_mock):\n    httpx_mock.add_response(url="https://x.io/chat/completions")',
            ["MR803"],
        ),
    ],
)
def test_raw_http(source: str, expected: list[str]) -> None:
    assert codes(f"{source}\n") == expected


LINE = 'line = {"url": "/v1/chat/completions", "body": {}}\n'
CREATE = 'client.batches.create(input_file_id="x", endpoint="/v1/chat/completions")\n'


def test_batches_are_reported_once() -> None:
    assert codes(f"{OPENAI}{LINE}{CREATE}") == ["MR035"]
    assert codes(f"{OPENAI}ENDPOINT = '/v1/chat/completions'\n{CREATE}") == ["MR035"]
    assert codes(LINE) == ["MR035"]
    assert codes('client.batches.create(endpoint="/v1/embeddings")\n') == []


# -- test doubles ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "from unittest.mock import MagicMock\nm = MagicMock()\nm.chat.completions.create.return_value = 1\n",
        "def test(client):\n    client.chat.completions.create.side_effect = ValueError\n",
        "def test(m):\n    m.chat.completions.create = print\n",
        "def test(m):\n    m.chat.completions.create.assert_called_once()\n",
        'from unittest.mock import patch\n@patch("openai.resources.chat.completions.Completions.create")\n'
        "def test(m):\n    pass\n",
        'def test(monkeypatch):\n    monkeypatch.setattr("openai.ChatCompletion.create", print)\n',
        'def test(mocker):\n    mocker.patch("main.client.chat.completions.create")\n',
        f"{OPENAI}def test(mocker):\n    mocker.patch.object(client.chat.completions, 'create')\n",
    ],
)
def test_doubles(source: str) -> None:
    known = project(main="", tests__test_main=source)
    (item,) = leftovers(known)
    assert (item.reason.code, item.reason.level, item.verdict) == ("MR803", Level.UNSAFE, Verdict.UNSAFE)


def test_patch_of_another_library_is_none() -> None:
    assert (
        codes(
            'from unittest.mock import patch\npatch("groq.resources.chat.completions.Completions.create")\n'
        )
        == []
    )


def test_a_replaced_method_holds_the_sites_of_its_client() -> None:
    test = "import main\ndef test():\n    main.client.chat.completions.create = print\n"
    known = project(main=f"{OPENAI}{CHAIN}", tests__test_main=test)
    (site,) = known.sites.values()
    assert [reason.code for reason in judge_site(known, site, Settings())] == ["MR803"]


def test_leftovers_come_in_source_order() -> None:
    source = (
        'import requests\nfrom groq import Groq\nURL = "https://api.openai.com/v1/chat/completions"\n'
        f"def ask(client):\n    {CHAIN}Groq().chat.completions.create{ARGS}"
    )
    assert codes(source) == ["MR032", "MR010", "MR011"]
