"""Where clients send their calls: what holds a site back, and what the user's word lifts."""

from __future__ import annotations

import pytest

from migrate_responses.config import Settings
from migrate_responses.decide.endpoints import is_instructor_site, judge, judge_site
from migrate_responses.decide.providers import PROVIDERS, find, is_foreign_model
from migrate_responses.results import Level
from tests.programs import project

CALL = 'client.chat.completions.create(model="gpt-4o", messages=[])\n'
HEAD = "import os\nimport openai\nfrom openai import AzureOpenAI, OpenAI\n"


def codes(source: str, *assumed: str, packaged: bool = False, **others: str) -> list[str]:
    """The codes of the reasons against the sites of ``main``, in order."""
    known = project(main=HEAD + source, **others)
    settings = Settings(assume_responses=frozenset(assumed), packaged=packaged)
    sites = [site for site in known.sites.values() if site.path == "main.py"]
    assert sites
    return [reason.code for site in sites for reason in judge_site(known, site, settings)]


def client_codes(expression: str, *assumed: str) -> list[str]:
    return codes(f"client = {expression}\n{CALL}", *assumed)


@pytest.mark.parametrize(
    "expression",
    [
        "OpenAI()",
        "OpenAI(base_url=None)",
        "OpenAI(base_url=openai.NOT_GIVEN)",
        'OpenAI(base_url="https://api.openai.com/v1")',
        'OpenAI(base_url="https://eu.api.openai.com/v1")',
        'OpenAI(base_url=os.environ["OPENAI_BASE_URL"])',
        'OpenAI(base_url=os.environ.get("OPENAI_BASE_URL"))',
        'OpenAI(base_url=os.getenv("OPENAI_BASE_URL", "https://api.openai.com/v1"))',
        'OpenAI(base_url=os.getenv("OPENAI_BASE_URL") or None)',
        'OpenAI(**{"timeout": 3})',
        'OpenAI(**dict(base_url="https://api.openai.com/v1"))',
        'OpenAI(base_url="https://contoso.openai.azure.com/openai/v1/")',
        """OpenAI(base_url=f"{os.environ['AZURE_OPENAI_ENDPOINT']}/openai/v1/")""",
        """OpenAI(base_url=os.environ['AZURE_OPENAI_ENDPOINT'] + "/openai/v1/")""",
        """OpenAI(base_url=f"https://{os.environ['NAME']}.openai.azure.com/openai/v1")""",
        'AzureOpenAI(api_version="2025-03-01-preview")',
        'AzureOpenAI(api_version="2025-04-01-preview", azure_endpoint=os.environ["AZURE_OPENAI_ENDPOINT"])',
        'AzureOpenAI(base_url="https://contoso.openai.azure.com/openai/v1/", api_version="preview")',
    ],
)
def test_endpoints_that_serve_responses(expression: str) -> None:
    assert client_codes(expression) == []


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ('OpenAI(base_url="http://localhost:11434/v1")', "MR020"),
        ('OpenAI(base_url="https://api.openai.com.example.org/v1")', "MR020"),
        ('OpenAI(base_url=os.getenv("OPENAI_BASE_URL", "http://localhost:11434/v1"))', "MR020"),
        ('OpenAI(base_url=os.getenv("OPENAI_BASE_URL") or "http://localhost:11434/v1")', "MR020"),
        ('OpenAI(base_url=f"http://localhost:{PORT}/v1")', "MR020"),
        ('OpenAI(base_url="https://contoso.openai.azure.com/")', "MR020"),
        ('OpenAI(**{"base_url": "http://localhost:8000/v1"})', "MR020"),
        ('OpenAI().with_options(base_url="http://localhost:8000/v1")', "MR020"),
        ('OpenAI(base_url="http://localhost:8000/v1").with_options(timeout=3)', "MR020"),
        ('OpenAI(base_url=os.environ["LLM_URL"])', "MR021"),
        ('OpenAI(base_url=os.getenv("LLM_URL", "https://api.openai.com/v1"))', "MR021"),
        ("OpenAI(base_url=undefined_name)", "MR021"),
        ("OpenAI(base_url=input())", "MR021"),
        ("OpenAI(**open('x').read())", "MR021"),
        ("""OpenAI(base_url=f"{os.environ['LLM_URL']}/openai/v1/")""", "MR021"),
        ('AzureOpenAI(api_version="2024-10-21")', "MR022"),
        ('AzureOpenAI(api_version="2025-02-01-preview")', "MR022"),
        ('AzureOpenAI(api_version="2025-06-01")', "MR022"),
        ('AzureOpenAI(api_version=os.getenv("V", "2024-06-01"))', "MR022"),
        ('AzureOpenAI(api_version=os.getenv("V"))', "MR023"),
        ("AzureOpenAI()", "MR023"),
        ('AzureOpenAI(azure_deployment="d", api_version="2025-04-01-preview")', "MR024"),
        ('AzureOpenAI(azure_deployment=os.getenv("D"), api_version="2024-10-21")', "MR024"),
        ('OpenAI(base_url="https://contoso.openai.azure.com/openai/deployments/d")', "MR024"),
        ('AzureOpenAI(azure_endpoint="https://gw.example.com/", api_version="2025-04-01-preview")', "MR020"),
    ],
)
def test_endpoints_that_hold_back(expression: str, code: str) -> None:
    assert client_codes(expression) == [code]


@pytest.mark.parametrize(
    ("expression", "assumed", "left"),
    [
        ('OpenAI(base_url="http://localhost:11434/v1")', "localhost:11434", []),
        ('OpenAI(base_url="http://localhost:11434/v1")', "http://localhost:11434/v1", []),
        ('OpenAI(base_url="http://localhost:11434/v1")', "localhost", []),
        ('OpenAI(base_url="http://localhost:11434/v1")', "localhost:1143", ["MR020"]),
        ('OpenAI(base_url="http://localhost:11434/v1")', "dynamic", ["MR020"]),
        ('OpenAI(base_url=os.environ["LLM_URL"])', "dynamic", []),
        ('OpenAI(base_url=os.environ["LLM_URL"])', "localhost", ["MR021"]),
        ("AzureOpenAI()", "azure", []),
        ('AzureOpenAI(api_version="2024-10-21")', "azure", ["MR022"]),
        ('OpenAI(base_url="https://contoso.openai.azure.com/")', "azure", []),
    ],
)
def test_the_users_word(expression: str, assumed: str, left: list[str]) -> None:
    assert client_codes(expression, assumed) == left


def test_message_names_the_provider_and_what_is_known() -> None:
    known = project(main=f'{HEAD}client = OpenAI(base_url="https://api.groq.com/openai/v1")\n{CALL}')
    (client,) = known.clients.values()
    reason = judge(known, client, Settings())
    assert reason is not None
    assert (reason.code, reason.level, reason.node) == ("MR020", Level.MANUAL, client.node)
    assert "Groq" in reason.detail
    assert "/responses" in reason.detail


def test_one_of_several_values_is_pointed_at() -> None:
    choice = 'URL = "http://localhost:1234/v1" if os.name == "nt" else None'
    source = f"{choice}\nclient = OpenAI(base_url=URL)\n{CALL}"
    known = project(main=HEAD + source)
    (client,) = known.clients.values()
    reason = judge(known, client, Settings())
    assert reason is not None
    assert known.modules[0].tree.code_for_node(reason.node) == '"http://localhost:1234/v1"'


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ('openai.base_url = "http://localhost:8000/v1"', "MR020"),
        ('openai.api_base = "http://localhost:8000/v1"', "MR020"),
        ('openai.base_url = os.environ["LLM_URL"]', "MR021"),
        ('openai.api_type = "azure"', "MR023"),
        ('openai.api_type = "azure"; openai.api_version = "2023-05-15"', "MR022"),
        ('os.environ["OPENAI_BASE_URL"] = "http://localhost:8000/v1"', "MR020"),
    ],
)
def test_assignments_to_the_module(statement: str, code: str) -> None:
    call = 'openai.chat.completions.create(model="gpt-4o", messages=[])\n'
    assert codes(call) == []
    assert codes(f"{statement}\n{call}") == [code]


def test_assignments_to_the_client() -> None:
    source = f'client = OpenAI()\nclient.base_url = "http://localhost:8000/v1"\n{CALL}'
    assert codes(source) == ["MR020"]


def test_setdefault_in_the_environment() -> None:
    source = (
        f'os.environ.setdefault("OPENAI_BASE_URL", "http://localhost:8000/v1")\nclient = OpenAI()\n{CALL}'
    )
    assert codes(source) == ["MR020"]
    assert codes(source, "localhost:8000") == []


def test_environment_of_another_program_does_not_count() -> None:
    setter = 'import os\nos.environ["OPENAI_BASE_URL"] = "http://localhost:8000/v1"\n'
    source = f"client = OpenAI()\n{CALL}"
    assert codes(source, local=setter) == []
    assert codes(f"import local\n{source}", local=setter) == ["MR020"]
    assert codes(source, app="import main\nimport local\n", local=setter) == ["MR020"]
    assert codes(source, tests__test_app="import main\nimport local\n", local=setter) == []


def test_every_known_value_none_counts_as_none() -> None:
    cls = (
        "class LLM:\n"
        "    def __init__(self, base_url: str = None):\n"
        "        self.base_url = base_url\n"
        "        self.client = OpenAI(base_url=self.base_url)\n"
        "    def ask(self):\n"
        f"        return self.{CALL}"
    )
    assert codes(f"{cls}LLM().ask()\n") == []
    assert codes(f'{cls}LLM("http://localhost:1/v1").ask()\nLLM().ask()\n') == ["MR020"]
    assert codes(f"{cls}LLM(unknown_name.url).ask()\nLLM().ask()\n") == ["MR021"]


def test_parameter_of_a_function_nobody_calls_is_run_time() -> None:
    assert codes(f"def ask(url):\n    client = OpenAI(base_url=url)\n    {CALL}") == ["MR021"]


def test_splat_of_keywords_nobody_passes_is_run_time() -> None:
    body = f"def ask(**options):\n    client = OpenAI(**options)\n    {CALL}"
    assert codes(body) == ["MR021"]
    assert codes(f"{body}ask(timeout=3)\n") == []
    assert codes(f'{body}ask(base_url="http://localhost:1/v1")\n') == ["MR020"]


def test_subclass_of_the_client() -> None:
    cls = (
        "class Local(OpenAI):\n    def __init__(self, **more):\n"
        '        super().__init__(base_url="http://localhost:1/v1", **more)\n'
    )
    assert codes(f"{cls}client = Local(timeout=3)\n{CALL}") == ["MR020"]
    assert codes(f"class Mine(OpenAI):\n    pass\nclient = Mine(timeout=3)\n{CALL}") == []
    assert codes(f'class Mine(OpenAI):\n    pass\nclient = Mine(base_url="http://localhost:1")\n{CALL}') == [
        "MR020"
    ]


def test_switch_takes_every_reason() -> None:
    source = (
        "if os.name:\n    client = OpenAI(base_url='http://localhost:11434/v1')\n"
        "elif HOST:\n    client = AzureOpenAI(api_version='2024-02-01')\n"
        f"else:\n    client = OpenAI()\n{CALL}"
    )
    assert sorted(codes(source)) == ["MR020", "MR022"]


# -- models ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ('"gpt-4o"', []),
        ('"ft:gpt-4o-mini:org::8"', []),
        ('"o4-mini"', []),
        ('"deepseek-chat"', ["MR025"]),
        ('os.getenv("MODEL", "llama3.1:8b")', ["MR025"]),
        ('"openai/gpt-4o"', ["MR025"]),
        ('"gpt-4o" if os.name else "claude-3-5-sonnet"', []),
        ('"gpt-4o-mini-search-preview"', ["MR026"]),
        ('"gpt-4o-audio-preview" if os.name else "gpt-4o"', ["MR026"]),
        ("os.environ['MODEL']", []),
    ],
)
def test_models(model: str, expected: list[str]) -> None:
    assert codes(f"OpenAI().chat.completions.create(model={model}, messages=[])\n") == expected


def test_model_through_a_dict_and_a_parameter() -> None:
    source = (
        "def ask(client, **params):\n    return client.chat.completions.create(messages=[], **params)\n"
        'ask(OpenAI(), model="mistral-large-latest")\n'
    )
    assert codes(source) == ["MR025"]


def test_foreign_model_at_an_endpoint_vouched_for_is_fine() -> None:
    source = (
        'client = OpenAI(base_url="http://localhost:11434/v1")\n'
        'client.chat.completions.create(model="llama3", messages=[])\n'
    )
    assert codes(source) == ["MR020"]
    assert codes(source, "localhost:11434") == []


# -- receivers of mixed origin -----------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("None", []),
        ("OpenAI(timeout=3)", []),
        ("groq.Groq()", ["MR011"]),
        ("instructor.from_openai(OpenAI())", ["MR012"]),
        ("langfuse.openai.OpenAI()", ["MR013"]),
        ("plugin.load()", ["MR010"]),
        ("undefined_name", ["MR010"]),
        ("Fake()", ["MR011"]),
        ("unittest.mock.MagicMock()", ["MR803"]),
    ],
)
def test_receiver_that_can_be_something_else(other: str, expected: list[str]) -> None:
    source = (
        "import groq, instructor, langfuse.openai, plugin, unittest.mock\n"
        "class Fake:\n    def __init__(self):\n        self.chat = 1\n"
        f"client = OpenAI() if os.name else {other}\n{CALL}"
    )
    assert codes(source) == expected


def test_a_slot_of_another_library_that_holds_the_client() -> None:
    source = (
        "import streamlit as st\nst.session_state.client = OpenAI()\n"
        'st.session_state["other"] = OpenAI()\n'
        f"st.session_state.{CALL}"
        'st.session_state["other"].chat.completions.create(model="gpt-4o", messages=[])\n'
    )
    assert codes(source) == []


def test_default_of_a_parameter_nobody_passes() -> None:
    source = f"def ask(client=None):\n    client = client or OpenAI()\n    return {CALL}"
    assert codes(source) == []
    assert codes(source, packaged=True) == ["MR010"]


def test_injected_client() -> None:
    source = (
        "from fastapi import Depends\ndef get_client():\n    return OpenAI()\n"
        f"def ask(client=Depends(get_client)):\n    return {CALL}"
    )
    assert codes(source) == []


def test_handle_that_also_goes_elsewhere() -> None:
    source = (
        "import registry\ncreate = OpenAI().chat.completions.create\nregistry.add(create)\n"
        'create(model="gpt-4o", messages=[])\n'
    )
    assert codes(source) == ["MR034"]


def test_method_that_the_program_replaces() -> None:
    source = f"client = OpenAI()\nclient.chat.completions.create = print\n{CALL}"
    assert codes(source) == ["MR034"]


# -- vouched names -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        'def ask(llm):\n    return llm.chat.completions.create(model="gpt-4o", messages=[])\n',
        'def ask(deps):\n    return deps.llm.chat.completions.create(model="gpt-4o", messages=[])\n',
        'from infra import llm\nllm.chat.completions.create(model="gpt-4o", messages=[])\n',
        'import infra\ninfra.llm.chat.completions.create(model="gpt-4o", messages=[])\n',
    ],
)
def test_names_vouched_for(source: str) -> None:
    assert not project(main=source).sites
    known = project(assume=("llm",), main=source)
    (site,) = known.sites.values()
    assert judge_site(known, site, Settings()) == []


def test_vouching_does_not_override_what_is_known() -> None:
    source = (
        "from groq import Groq\nllm = Groq()\n"
        'llm.chat.completions.create(model="gpt-4o", messages=[])\n'
        'def ask(llm):\n    return llm.chat.completions.create(model="gpt-4o", messages=[])\nask(Groq())\n'
    )
    assert not project(assume=("llm",), main=source).sites


# -- tables ------------------------------------------------------------------------------


def test_instructor_gives_itself_away() -> None:
    source = (
        f"{HEAD}OpenAI().chat.completions.create(response_model=int, messages=[])\n"
        'OpenAI().chat.completions.create(**{"response_model": int})\n'
        "OpenAI().chat.completions.create(messages=[])\n"
        'OpenAI().chat.completions.create(messages=[], metadata={"response_model": "int"})\n'
    )
    sites = project(main=source).sites.values()
    assert [is_instructor_site(site) for site in sites] == [True, True, False, False]


def test_each_provider_is_found_by_its_own_hosts() -> None:
    from urllib.parse import urlsplit

    for provider in PROVIDERS:
        for host in provider.hosts:
            url = f"https://{host.replace('local:', 'localhost:').replace('*', 'x')}"
            assert find(urlsplit(url)) is provider
        assert provider.known.startswith(("serves", "has no", "is not known"))


def test_models_of_openai_are_not_foreign() -> None:
    from typing import get_args

    from openai.types import ChatModel

    assert not [name for name in get_args(ChatModel) if is_foreign_model(name)]


def test_an_azure_client_tells_all_that_has_to_change() -> None:
    source = f'{HEAD}client = AzureOpenAI(azure_deployment="d", api_version="2024-10-21")\n{CALL}'
    known = project(main=source)
    (site,) = known.sites.values()
    (reason,) = judge_site(known, site, Settings())
    assert "deployment `d`" in reason.detail
    assert "`2024-10-21`" in reason.detail
