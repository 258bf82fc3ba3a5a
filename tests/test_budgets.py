"""What a run may cost, in things that can be counted; ``python -m benchmarks`` measures seconds."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
import time
import weakref
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path

import libcst as cst
import pytest

from migrate_responses import run
from migrate_responses.config import Settings
from migrate_responses.decide import escapes
from migrate_responses.decide.escapes import Escape
from migrate_responses.decide.urls import Text, Texts
from migrate_responses.know.graph import Var
from migrate_responses.know.kinds import Value
from migrate_responses.know.modules import Module
from migrate_responses.parsing import parse
from migrate_responses.positions import Positions
from migrate_responses.results import Verdict
from migrate_responses.run import migrate

ROOT = Path(__file__).parents[1]
HEAD = b"from openai import OpenAI\n\nclient = OpenAI()\n"
CALL = b"""\
answer = client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": "Hi"}])
print(answer.choices[0].message.content)
"""
HEAVY = {"libcst", "rich", "pathspec", "multiprocessing", "concurrent.futures", "subprocess", "asyncio"}
NEVER = {"libcst.matchers", "libcst.codemod", "libcst.tool"}


def _loaded(*arguments: str, first: str = "") -> set[str]:
    """The modules that a run of the command line loads, after the statement ``first``."""
    code = (
        f"import sys\nfrom migrate_responses.cli import cli\n{first}\n"
        f"try:\n    cli.main({list(arguments)!r}, prog_name='x', standalone_mode=False)\n"
        "except SystemExit:\n    pass\n"
        "print('\\n' + ' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.splitlines()[-1].split())


def test_the_version_comes_at_once() -> None:
    loaded = _loaded("--version")
    assert not loaded & HEAVY
    assert not loaded & {
        "migrate_responses.commands",
        "migrate_responses.request",
        "migrate_responses.run",
        "migrate_responses.rules",
    }


def test_a_clean_file_is_not_parsed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "clean.py").write_text("print('hello')\n", encoding="utf-8")
    loaded = _loaded("check", str(tmp_path))
    assert not loaded & {"libcst", "rich", "multiprocessing", "concurrent.futures", "asyncio"}
    assert "migrate_responses.run" not in loaded


def test_a_clean_file_that_is_named_needs_nothing_around_it(tmp_path: Path) -> None:
    """As a hook of pre-commit calls it: git is not asked which other files there are."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "clean.py").write_text("print('hello')\n", encoding="utf-8")
    loaded = _loaded("check", str(tmp_path / "clean.py"))
    assert not loaded & (HEAVY | NEVER | {"shutil", "tempfile", "jsonschema"})


def test_a_migration_needs_no_slow_part_of_libcst(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "call.py").write_bytes(HEAD + CALL)
    loaded = _loaded("check", str(tmp_path))
    assert "libcst" in loaded
    assert not loaded & NEVER
    assert "multiprocessing" not in loaded  # other processes are for large projects
    assert "markdown_it" not in loaded  # nor are there texts


def test_who_shares_out_the_work_parses_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_bytes(HEAD + CALL)
    few = "from migrate_responses import jobs\njobs._WORTH = 0"
    loaded = _loaded("check", "--jobs", "2", str(tmp_path), first=few)
    assert "concurrent.futures" in loaded
    assert not loaded & {"libcst", "migrate_responses.run"}


def test_the_parser_does_not_check_its_own_nodes_and_edits_do() -> None:
    tree = parse("if x:\n    pass\n")
    assert tree.deep_equals(cst.parse_module("if x:\n    pass\n"))
    with pytest.raises(cst.CSTValidationError):
        cst.Name("")
    with pytest.raises(cst.ParserSyntaxError):
        parse("if")
    with pytest.raises(cst.CSTValidationError):
        cst.Name("")


_LITERALS = r"""
'a'
"a"
u'a'
U"it's"
''
""
'''a"b'''
'''it's'''
''''a'''
'''it\'s'''
r'''a\n'''
r'a\n'
'a\n'
b'a'
Rb'a'
'\x41'
0
00
7
1_000
0x1F
0b1
123456789
999999999999999999999999999999
1.5
.5
5.
1e5
1_0.0
123456789.123456789123456789
3.141592653589793
""".split()


@pytest.mark.parametrize("text", [*_LITERALS, "'''a\nb'''", '""""a\n"""', "'''a\r\nb'''", "'a\\\nb'"])
def test_literals_are_read_as_python_reads_them(text: str) -> None:
    """``parsing`` has plain ones read as they stand."""
    node = cst.parse_expression(text)
    assert isinstance(node, (cst.SimpleString, cst.Integer, cst.Float))
    value, expected = node.evaluated_value, ast.literal_eval(text)
    assert (type(value), value) == (type(expected), expected)


def test_nodes_are_equal_if_they_are_the_same() -> None:
    """``parsing`` has them hashed by identity, which is right as long as LibCST compares them so."""
    one, other = cst.Name("a"), cst.Name("a")
    assert one != other
    assert len({one, other, one}) == 2
    assert hash(one) != hash(other)


def test_each_file_is_parsed_and_printed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: Counter[str] = Counter()
    printed: Counter[int] = Counter()
    parse, begin = cst.parse_module, Positions.__init__

    def count_parse(source: str) -> cst.Module:
        parsed[source] += 1
        return parse(source)

    def count_print(self: Positions, tree: cst.Module) -> None:
        printed[id(tree)] += 1
        begin(self, tree)

    monkeypatch.setattr(cst, "parse_module", count_parse)
    monkeypatch.setattr(Positions, "__init__", count_print)
    sources = {
        "helper.py": b"def show(answer):\n    print(answer.usage.foo)\n",
        "main.py": b"from helper import show\n" + HEAD + CALL + b"show(answer)\n",
        "other.py": HEAD + CALL * 3,
    }
    migrate(sources, Settings())
    texts = {data.decode() for data in sources.values()}
    assert {text: parsed[text] for text in texts} == dict.fromkeys(texts, 1)
    assert set(printed.values()) == {1}


def test_nothing_of_a_part_is_kept_but_its_results(monkeypatch: pytest.MonkeyPatch) -> None:
    modules: list[weakref.ref[Module]] = []
    begin = run.Project.__init__

    def note(self: run.Project, found: Sequence[Module], is_packaged: bool) -> None:
        modules.extend(map(weakref.ref, found))
        begin(self, found, is_packaged)

    monkeypatch.setattr(run.Project, "__init__", note)
    results = migrate({"one.py": HEAD + CALL, "two.py": HEAD + CALL}, Settings())
    assert results.count(Verdict.MIGRATED) == 2
    gc.collect()
    assert len(modules) == 2
    assert [module() for module in modules] == [None, None]


def _seconds(source: bytes) -> float:
    start = time.process_time()
    results = migrate({"main.py": source}, Settings())
    spent = time.process_time() - start
    assert [site.verdict for site in results.sites] == [Verdict.MIGRATED] * len(results.sites)
    assert results.sites
    return spent


def _calls(size: int) -> bytes:
    return HEAD + b"".join(
        b"def f%d():\n    " % n + CALL.replace(b"\n", b"\n    ") + b"\n" for n in range(size)
    )


def _functions(size: int) -> bytes:
    """Functions that call one another in turn, with the answer as what they hand on."""
    chain = b"".join(b"def f%d(text):\n    return f%d(text)\n\n" % (n, n + 1) for n in range(size))
    return HEAD + chain + b"def f%d(text):\n    return text\n\n" % size + CALL + b"f0('x')\n"


def _literal(size: int) -> bytes:
    return HEAD + b"table = [" + b", ".join(b"{'n': %d}" % n for n in range(size)) + b"]\n" + CALL


def _statements(size: int) -> bytes:
    return HEAD + b"".join(b"x%d = [%d, 'text']\n" % (n, n) for n in range(size)) + CALL


def _cut_history(size: int) -> bytes:
    """A history that is put together in steps, each of which may be left out, and that may be cut."""
    steps = b"".join(
        b'if input():\n    history = history + [{"role": "user", "content": "%d"}]\n' % n for n in range(size)
    )
    tool = b"tools=[{'type': 'function', 'function': {'name': 'now'}}], messages=history"
    ask = CALL.replace(b'messages=[{"role": "user", "content": "Hi"}]', tool).replace(b"\n", b"\n    ")
    answered = (
        b"history.append(answer.choices[0].message)\n"
        b"    for call in answer.choices[0].message.tool_calls or []:\n"
        b'        history.append({"role": "tool", "tool_call_id": call.id, "content": "noon"})\n'
    )
    first = b'history = [{"role": "system", "content": "Be brief."}]\n'
    return (
        HEAD
        + first
        + steps
        + b"if input():\n    history = history[:1]\nfor _ in range(3):\n    "
        + ask
        + answered
    )


@pytest.mark.parametrize(
    ("make", "size"),
    [(_calls, 20), (_functions, 100), (_literal, 250), (_statements, 200), (_cut_history, 4)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_cost_grows_with_size_and_not_faster(make: object, size: int) -> None:
    assert callable(make)
    _seconds(make(size))  # what is loaded and cached at first
    small = min(_seconds(make(size)) for _ in range(2))
    assert _seconds(make(size * 4)) < small * 4 * 3 + 0.5


def _ladder(size: int) -> bytes:
    """Functions in pairs, each of which calls both of the next pair: 2 to the power of ``size`` ways down."""
    pairs = b"".join(
        b"def %s%d(model: str):\n    a%d(model)\n    b%d(model)\n\n" % (name, n, n + 1, n + 1)
        for n in range(size)
        for name in (b"a", b"b")
    )
    last = b"".join(
        b"def %s%d(model: str):\n    %s\n"
        % (name, size, CALL.replace(b'"gpt-4o"', b"model").replace(b"\n", b"\n    "))
        for name in (b"a", b"b")
    )
    return HEAD + pairs + last + b'\na0("gpt-4o")\nb0("gpt-4o-mini")\n'


def test_texts_are_read_once_however_many_ways_lead_there(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Counter[str] = Counter()
    read = Texts._value

    def count(self: Texts, value: Value, own: str, outer: frozenset[Var]) -> Iterator[Text]:
        seen["values"] += 1
        return read(self, value, own, outer)

    monkeypatch.setattr(Texts, "_value", count)
    results = migrate({"main.py": _ladder(30)}, Settings())
    assert [site.verdict for site in results.sites] == [Verdict.MIGRATED] * 2
    assert seen["values"] < 500


def _inside_each_other(size: int) -> bytes:
    """Tools in lists, each of which is in the next one and is shown."""
    tools = b"".join(
        b'tool%d = {"type": "function", "function": {"name": "f%d"}}\n'
        b"list%d = [tool%d, list%d]\nprint(list%d)\n" % (n, n, n, n, max(n - 1, 0), n)
        for n in range(size)
    )
    all_tools = b", ".join(b"tool%d" % n for n in range(size))
    return HEAD + b"list0 = []\n" + tools + CALL.replace(b"messages", b"tools=[" + all_tools + b"], messages")


def test_what_is_around_many_values_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: Counter[int] = Counter()
    sort = escapes._sort
    size = 0

    def count(escape: Escape) -> Hashable:
        looked[size] += 1
        return sort(escape)

    monkeypatch.setattr(escapes, "_sort", count)
    for size in (50, 200):
        results = migrate({"main.py": _inside_each_other(size)}, Settings())
        assert [site.verdict for site in results.sites] == [Verdict.MIGRATED]
    assert 0 < looked[200] < looked[50] * 4 * 2
