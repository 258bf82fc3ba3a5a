"""Notebooks: what is read of them, and that only the lines that change are written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from migrate_responses.config import Settings
from migrate_responses.documents.magics import Inert, mask
from migrate_responses.documents.names import inert_lines
from migrate_responses.documents.notebook import Notebook
from migrate_responses.documents.program import parses
from migrate_responses.documents.spans import Lines, members, whole
from migrate_responses.results import Cell, Results, Verdict
from migrate_responses.run import migrate

HEAD = "from openai import OpenAI\n\nclient = OpenAI()"
CALL = 'r = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Hi"}])'
MOVED = 'r = client.responses.create(model="gpt-4o", input="Hi", store=False)'


def notebook(*sources: str | list[str], **layout: Any) -> bytes:
    """A notebook with these code cells, a heading above them."""
    cells: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {}, "source": ["# Title"]}]
    for source in sources:
        lines = source.splitlines(keepends=True) if isinstance(source, str) else source
        cells.append(
            {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": lines}
        )
    book = {
        "cells": cells,
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(book, **{"indent": 1, "ensure_ascii": False, **layout}).encode() + b"\n"


def sources(data: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(data)["cells"] if cell["cell_type"] == "code"]


def run(data: bytes, **others: bytes) -> tuple[bytes, Results]:
    results = migrate({"a.ipynb": data, **{f"{name}.py": text for name, text in others.items()}}, Settings())
    return next(file.after for file in results.files if file.path == "a.ipynb"), results


# -- the bytes of the file


@pytest.mark.parametrize("indent", [None, 0, 1, 2, 4, "\t"])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_only_changed_lines_differ(indent: int | str | None, ascii_only: bool) -> None:
    tail = "\nprint('é — 😀')  # stays\n"
    layout: dict[str, Any] = {"indent": indent, "ensure_ascii": ascii_only}
    after, results = run(notebook(HEAD, CALL + tail, **layout))
    assert [site.verdict for site in results.sites] == [Verdict.MIGRATED]
    assert after == notebook(HEAD, MOVED + tail, **layout)


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(lambda text: text, id="one string"),
        pytest.param(lambda text: [text], id="one string in a list"),
        pytest.param(lambda text: [text[:7], text[7:20], text[20:]], id="strings that end within lines"),
        pytest.param(lambda text: ["", *text.splitlines(keepends=True), ""], id="empty strings between"),
    ],
)
def test_forms_of_a_source(form: Any) -> None:
    text = "# first\n" + CALL + "\n# last"
    book = json.loads(notebook(HEAD, text))
    book["cells"][2]["source"] = form(text)
    before = json.dumps(book, indent=1).encode()
    after, _ = run(before)
    found = json.loads(after)["cells"][2]["source"]
    assert type(found) is type(form(text))
    assert "".join(found) == f"# first\n{MOVED}\n# last"
    book["cells"][2]["source"] = found
    assert after == json.dumps(book, indent=1).encode()


def test_unusual_json_stays() -> None:
    """Escapes that nobody needs, odd spaces, keys in another order, a byte order mark."""
    source = (
        '"from openai import OpenAI\\u000aclient = OpenAI()\\n'
        + CALL.replace('"', '\\"')
        + '\\n\\u0023 \\/ end"'
    )
    cell = f'{{"source":{source},"outputs":[ ],"cell_type":"code"}}'
    text = f'\ufeff{{"nbformat" :4,  "cells":[ {cell} ],"x":1.50e2}}'
    after, results = run(text.encode())
    assert [site.verdict for site in results.sites] == [Verdict.MIGRATED]
    assert after.decode() == text.replace(CALL.replace('"', '\\"'), MOVED.replace('"', '\\"'))


def test_lines_that_are_new_end_like_the_others() -> None:
    text = (
        CALL.replace("(", "(\r\n    ", 1).replace(", m", ",\r\n    m").replace(")", ",\r\n)") + "\r\nprint(1)"
    )
    after, _ = run(notebook(HEAD.replace("\n", "\r\n"), text))
    assert "store=False,\r\n" in sources(after)[1]
    assert "\n" not in sources(after)[1].replace("\r\n", "")


def test_nothing_to_do_changes_nothing() -> None:
    data = notebook(HEAD, "print('chat.completions')", ["x = 1\n", ""], [])
    assert run(data)[0] is data or run(data)[0] == data


@settings(deadline=None)
@given(st.lists(st.text(alphabet=st.sampled_from('ab"\\n\né😀\t/#'), max_size=12), max_size=6), st.data())
def test_lines_say_what_they_are_told(strings: list[str], data: st.DataObject) -> None:
    """However a text was written, new lines read back as they are, and the same lines change nothing."""
    text = json.dumps({"source": strings}, indent=2, ensure_ascii=data.draw(st.booleans()))
    place = next(iter(members(text, whole(text).start)))
    old = "".join(strings)
    assert Lines(text, place).rewritten(old, False) == (text[place.start : place.end] if old else "[]")
    if old:
        new = data.draw(st.text(alphabet=st.sampled_from('ab"\\n\né😀\t'), max_size=30))
        new = data.draw(st.sampled_from([new, old + new, new + "\n" + old]))
        written = Lines(text, place).rewritten(new, data.draw(st.booleans()))
        assert "".join(json.loads(written)) == new


# -- what is read


@pytest.mark.parametrize(
    "cell",
    [
        "%matplotlib inline",
        "!pip install 'openai>=1' \"rich\"",
        "x = !ls -la | grep '('",
        "a, b = %some_magic -x [1]",
        "%%time\nx = 1",
        "%%capture --no-stderr out\n%load_ext x\nx = 1",
        "%%bash\necho $((1+2)) # it's\n",
        "%%html\n<b>&amp;</b>",
        "print?",
        "??print",
        "?str.replace",
        "import os\nos.getcwd?",
        "if True:\n    !ls\n    %pwd\nelse:\n    pass",
        "!echo one \\\n  two\nx = 1",
        'text = """\n%time is no magic\n!nor this\n"""',
        "n = (10\n  % 3)",
        "n = 10 \\\n  % 3",
        "s = 'a#b' # !c\n!d",
        "await f()\nasync for x in y: pass",
        "    x = 1\n    y = 2",
        "%%writefile a.py\nclass (",
        "%timeit -n 1 sum(range(10))",
        "!!ls",
        "pip install openai",
    ],
)
def test_what_ipython_runs_is_python_once_it_is_masked(cell: str) -> None:
    """The same cells that IPython's own transformation makes Python of, line for line."""
    TransformerManager().transform_cell(cell)
    book = Notebook("a.ipynb", notebook(HEAD, cell))
    assert not [unread for unread in book.unread if unread.is_broken]
    text = book.programs[0].text
    assert parses(text)
    assert book.encode({"a.ipynb": text}) == notebook(HEAD, cell)
    assert len(text.split("\n")) == len((HEAD + "\n" + cell).split("\n")) + 4


@pytest.mark.parametrize("cell", ["x = (1", "def f(:", "y = 'a", "x = 1 +\n", "print(1))", "%time x\nfor"])
def test_what_ipython_cannot_run_is_left_out(cell: str) -> None:
    book = Notebook("a.ipynb", notebook(HEAD, cell, CALL))
    assert [unread.is_broken for unread in book.unread if unread.text == cell] == [True]
    assert parses(book.programs[0].text)
    assert MOVED in run(notebook(HEAD, cell, CALL))[0].decode().replace('\\"', '"')


def test_masked_lines_keep_what_they_bind_and_use() -> None:
    assert mask("files = !ls {folder} $name", Inert()) == "files = __magic_0__(folder, name)"
    assert mask("%timeit f(response, x=1)", Inert()) == "__magic_0__(f, response, x)"
    assert mask("%time r = f(a)", Inert()) == "__magic_0__(f, a, r=r)"
    assert mask("%%unknown\nr = f(a)\n(", Inert()) == "__magic_0__(unknown, f, a, r=r\n\n)"
    assert mask("%pip install response", Inert()) == "__magic_0__()"
    assert mask("%%bash\necho response\n", Inert()) == "__magic_0__(\n\n)"


def test_names_of_this_tool_in_a_cell_do_no_harm() -> None:
    data = notebook(HEAD, "__cell_1__\n__magic_0__()", CALL)
    after, _ = run(data)
    assert after == notebook(HEAD, "__cell_1__\n__magic_0__()", MOVED)
    assert inert_lines("x = 1\n__cell_1__\n") == ["__cell_1__"]


# -- what is told


def test_places_are_those_of_the_cell_and_of_the_file() -> None:
    call = "    r = client.chat.completions.create(model='gpt-4o', messages=[], n=2)"
    data = notebook(HEAD, f"%%time\nif True:\n{call}")
    after, results = run(data)
    (site,) = results.sites
    assert site.place == "a.ipynb:cell 3:3:9"
    line = data.decode().split("\n")[site.line - 1]
    assert line[site.column - 1 :].startswith("client.chat")
    (reason,) = site.reasons
    assert (reason.code, reason.cell) == ("MR113", Cell(3, 3, call.index("n=2") + 1))
    assert sources(after)[1].startswith("%%time\nif True:\n    # TODO(migrate-responses): MR113 ")


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (b'{"cells": [} chat.completions', "MR901", "is not a notebook"),
        (b"", "MR901", "is not a notebook"),
        (notebook(CALL) + b"}", "MR901", "Extra data"),
        (b'{"cells": ["\xff"]}', "MR902", "codec can't decode"),
        (b'["client.chat.completions.create()"]', "MR901", "no list of cells"),
        (b"[" * 100_000, "MR904", "nested too deeply"),
        (b'{"cells": [], "x": ' + b"9" * 5000 + b"}", "MR901", "is not a notebook"),
    ],
)
def test_what_is_no_notebook_is_told(data: bytes, code: str, message: str) -> None:
    results = migrate({"a.ipynb": data, "b.py": f"{HEAD}\n{CALL}\n".encode()}, Settings())
    (error,) = results.errors
    assert (error.path, error.code) == ("a.ipynb", code)
    assert message in error.message
    assert [site.verdict for site in results.sites] == [Verdict.MIGRATED]


@pytest.mark.parametrize(
    "data", [b"[]", b'{"cells": {}}', b'{"cells": [1, {"cell_type": "code"}]}', b'"cells"']
)
def test_json_of_another_sort_is_no_error(data: bytes) -> None:
    assert migrate({"a.ipynb": data}, Settings()) == migrate({}, Settings())


def test_half_a_letter_is_left_alone() -> None:
    book = json.loads(notebook(HEAD, "x = 'A'", CALL))
    text = json.dumps(book, indent=1).replace("'A'", r"'\ud83d'")
    after, results = run(text.encode())
    assert [site.verdict for site in results.sites] == [Verdict.MIGRATED]
    assert r"'\ud83d'" in after.decode()


def test_a_comment_is_kept_in_step() -> None:
    held = CALL.replace(")", ", stop=['.'])")
    once, _ = run(notebook(HEAD, f"# hi\n{held}\n{held.replace('r =', 's =')}"))
    assert once.decode().count("TODO(migrate-responses)") == 1
    assert run(once)[0] == once
    repaired = once.replace(b", stop=['.']", b"")
    assert b"TODO" not in run(repaired)[0]


# -- cells in any order


def test_a_name_means_what_any_cell_leaves_in_it() -> None:
    read = "print(r.choices[0].message.content)"
    _, results = run(notebook(HEAD, read, CALL, "r = input()"))
    assert [reason.code for reason in results.sites[0].reasons] == ["MR306"]
    _, results = run(notebook(HEAD, read, CALL, "r = input()\ndel r\n" + CALL))
    assert {site.verdict for site in results.sites} == {Verdict.MIGRATED}


@pytest.mark.parametrize(
    "cell", ["%time r = other()", "%%somehow -x\nr = other()", "def f(:\n    r = other()"]
)
def test_what_is_not_looked_into_may_bind_a_name(cell: str) -> None:
    _, results = run(notebook(HEAD, CALL, cell, "print(r.choices[0].message.content)"))
    assert [reason.code for reason in results.sites[0].reasons] == ["MR913"]


def test_the_colours_of_an_editor_say_nothing() -> None:
    """Visual Studio Code marks cells as plain text while no kernel is chosen."""
    book = json.loads(notebook(HEAD, CALL))
    book["cells"][2]["metadata"] = {"vscode": {"languageId": "plaintext"}}
    after, _ = run(json.dumps(book).encode())
    assert sources(after)[1] == MOVED


def test_modules_do_not_import_notebooks() -> None:
    module = b"from a import client\nprint(client.chat.completions.create(model='m', messages=[]))\n"
    _, results = run(notebook(HEAD), main=module)
    assert [site.verdict for site in results.sites] != [Verdict.MIGRATED]


def test_what_a_notebook_may_not_change_holds_a_flow_back() -> None:
    helper = f"{HEAD}\ndef ask():\n    return {CALL[4:]}\n".encode()
    reader = notebook("from helper import ask", "print(ask().choices[0].message.content)")
    found = {"a.ipynb": reader, "helper.py": helper}
    results = migrate(found, Settings(), {"helper.py"})
    assert [reason.code for reason in results.sites[0].reasons] == ["MR907"]
    results = migrate(found, Settings(), {"helper.py", "a.ipynb"})
    assert {file.path for file in results.changed} == {"helper.py", "a.ipynb"}


def test_a_null_byte_in_a_cell_stops_no_other() -> None:
    after, results = run(notebook(HEAD, "x = 1  # \0\n", CALL), b=f"{HEAD}\n{CALL}\n".encode())
    assert sources(after)[2] == MOVED
    assert [site.verdict for site in results.sites if site.path == "b.py"] == [Verdict.MIGRATED]
