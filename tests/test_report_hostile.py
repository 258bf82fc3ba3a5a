"""Text from a project can do nothing in any format: names of files, code, comments, messages."""

from __future__ import annotations

import io
import json
import os
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from migrate_responses.results import Diagnostic, Level, SiteResult, Verdict
from migrate_responses.secrets import masked
from migrate_responses.show.formats import NAMES, Report, show
from migrate_responses.show.markup import code, fenced, plain
from migrate_responses.show.since import Entry, Since
from migrate_responses.show.words import flat
from migrate_responses.visible import visible
from tests.reports import HEAD, call, report

# Controls, a terminal title, marks that reorder text, and line ends of all sorts.
CONTROLS = "\x1b[31m\x1b]0;owned\x07\x08\x7f\x9b1m\u202e\u2066\u200f\u2028\x85\x00\r\n"
MARKUP = (
    "[red]x[/red] <script>alert(1)</script> <img src=x onerror=alert(1)> </details> --> ]]> "
    "![x](http://evil.example/x.png) [y](javascript:alert(1)) @everyone #1 GH-2 www.evil.example "
    "https://evil.example/z | `code` ``` ~~~ ${{ x }} $x$ {0} ::error::x ::set-output name=a::b %0A & &lt;"
)
HOSTILE = f"{CONTROLS}# heading\n- item\n> quote\n```\n{MARKUP}"
ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def name(text: str) -> str:
    """Hostile text as the name of a file."""
    return text.replace("/", "\u2215").replace("\x00", "")[:200] + os.fsdecode(b"\xff.py")


def made_up() -> Report:
    """A report in which everything that can come from a project is hostile."""
    reason = Diagnostic("MR112", name(HOSTILE), 3, 2, Level.MANUAL, f"`{HOSTILE}` {HOSTILE}", HOSTILE)
    ready = SiteResult(name(MARKUP), 1, 1, HOSTILE, Verdict.MIGRATED, 1, (), HOSTILE)
    held = SiteResult(name(HOSTILE), 2, 1, HOSTILE, Verdict.MANUAL, 2, (reason,), HOSTILE)
    left = replace(held, verdict=Verdict.LEFT, flow=0)
    entry = Entry(name(HOSTILE), 1, HOSTILE, HOSTILE, Verdict.MANUAL, ("MR112",))
    since = Since(HOSTILE, {}, (entry,), (entry,), (entry,), (entry,), (entry,))
    real = report({name(MARKUP): READ, name(HOSTILE): READ})
    outcome = replace(
        real.outcome,
        sites=(*real.outcome.sites, ready, held, left),
        notes=(reason, *real.outcome.notes),
        errors=(reason,),
    )
    return replace(real, outcome=outcome, since=since, name=HOSTILE, owners={name(HOSTILE): (HOSTILE,)})


# Code that parses, with hostile text in strings, names of models and comments, and fences in a docstring.
READ = (
    HEAD
    + f"\nTEXT = {json.dumps(HOSTILE)}\n"
    + call(
        "one",
        f"        stop={json.dumps(MARKUP)},  # {MARKUP}\n",
        f'    """\n    ```\n    {MARKUP}\n    ~~~~\n    """\n',
    )
    + call("two", f"        unknown={json.dumps(HOSTILE)},  # \u202e\x1b[31m\n")
    + call("three", "        **TEXT.load(`".replace("`", '"') + f'{MARKUP}"),\n')
)


def written(form: str, found: Report) -> str:
    stream = io.StringIO()
    show(found, form, stream, True)
    return stream.getvalue()


@pytest.mark.parametrize("form", NAMES)
def test_no_format_writes_controls(form: str) -> None:
    text = written(form, made_up())
    assert len(text) > 1000
    assert ACTIVE.findall(text.replace("\n", "")) == []


@pytest.mark.parametrize("form", NAMES)
def test_every_format_can_be_written_to_a_narrow_stream(form: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    show(made_up(), form, stream, True)
    stream.flush()
    assert stream.buffer.tell() > 1000


def test_the_terminal_keeps_a_line_for_each_call_and_each_reason() -> None:
    found = made_up()
    plain = written("terminal", replace(found, since=None))
    paths = {site.path for site in found.outcome.sites}
    told = [site for site in found.outcome.sites if site.reasons]
    assert plain.count("\n") == len(found.outcome.sites) + len(told) + len(paths)
    assert "\\x1b[31m" in plain


def test_json_gives_it_back() -> None:
    text = written("json", made_up())
    assert text.isascii()
    assert HOSTILE in {site["text"] for site in json.loads(text)["sites"]}


def test_messages_of_sarif_have_no_links_or_placeholders() -> None:
    text = written("sarif", made_up())
    assert text.isascii()
    run = json.loads(text)["runs"][0]
    messages = [one["message"]["text"] for one in run["results"]]
    assert any("javascript:alert" in message for message in messages)
    for message in messages:
        assert re.search(r"\]\(|\{\d+\}", message) is None


def test_github_has_a_line_for_each_annotation() -> None:
    found = made_up()
    lines = written("github", found).splitlines()
    shown = [site for site in found.outcome.sites if site.verdict is not Verdict.LEFT]
    assert len(lines) == len(shown) + len(found.outcome.notes) + len(found.outcome.errors)
    for line in lines:
        assert re.match(r"::(error|warning|notice) [^:]*::", line), line


def test_html_has_no_foreign_tags() -> None:
    text = written("html", made_up())
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "</details> --" not in text


# -- Markdown


def tokens(text: str) -> list[Token]:
    """All tokens, those within lines too."""
    found: list[Token] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        found.append(token)
        found.extend(token.children or [])
    return found


MARKDOWN = ["markdown", "prompt"]


@pytest.mark.parametrize("form", MARKDOWN)
def test_markdown_has_no_foreign_markup(form: str) -> None:
    found = tokens(written(form, made_up()))
    raw = "".join(token.content for token in found if token.type in ("html_inline", "html_block"))
    assert re.sub(r"</?(details|summary)>|[\w ,\n]|\*\*", "", raw) == ""
    assert not [token for token in found if token.type == "image"]
    targets = [str(token.attrs["href"]) for token in found if token.type == "link_open"]
    for target in targets:
        assert re.fullmatch(r"https://github\.com/migrate-responses/[\w./#-]*|[\w.%/-]+(#L\d+)?", target), (
            target
        )


@pytest.mark.parametrize("form", MARKDOWN)
def test_markdown_has_headings_of_its_own_only(form: str) -> None:
    found = MarkdownIt("commonmark").enable("table").parse(written(form, made_up()))
    headings = [found[at + 1].content for at, token in enumerate(found) if token.type == "heading_open"]
    assert headings
    for heading in headings:
        assert re.match(
            r"Chat Completions|What|From, to|The code|How to check|Since `|Order \d+: `|\d+ work orders",
            heading,
        ), heading
    assert not [token for token in found if token.type in ("blockquote_open", "code_block")]


@pytest.mark.parametrize("form", MARKDOWN)
def test_nobody_is_mentioned(form: str) -> None:
    text = "".join(token.content for token in tokens(written(form, made_up())) if token.type == "text")
    assert re.search(r"@\w|#\d|GH-\d|www\.evil|://evil", text) is None


def test_blocks_of_code_end_where_they_should() -> None:
    found = tokens(written("prompt", report({"a.py": READ})))
    blocks = [token.content for token in found if token.type == "fence"]
    (excerpt,) = (block for block in blocks if "def one" in block)
    for line in ("```", "~~~~", "<script>alert(1)</script>"):
        assert line in excerpt
    assert not [token for token in found if token.type == "code_block"]


# -- any text

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60) | st.text(
    "`*_[]()<>#+-!|~$&@:/\\ \n\t.1aw", max_size=40
)


@given(TEXT)
def test_code_is_one_piece_of_code(text: str) -> None:
    (paragraph,) = (token for token in MarkdownIt().parse(f"x {code(text)} y") if token.type == "inline")
    kinds = [token.type for token in paragraph.children or []]
    assert kinds == ["text", "code_inline", "text"]
    (inside,) = (token.content for token in paragraph.children or [] if token.type == "code_inline")
    assert inside.strip() == visible(flat(text)).strip()


@given(TEXT)
def test_plain_text_is_text(text: str) -> None:
    parsed = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(f"- {plain(text)}")
    kinds = [token.type for token in parsed if token.type not in ("paragraph_open", "paragraph_close")]
    wanted = ["bullet_list_open", "list_item_open", "list_item_close", "bullet_list_close"]
    assert [kind for kind in kinds if kind != "inline"] == wanted
    inside = [token for block in parsed for token in block.children or []]
    assert {token.type for token in inside} <= {"text", "text_special", "softbreak"}
    shown = "".join(token.content for token in inside).replace("\u2060", "")
    assert shown == visible(flat(text)).replace("\u2060", "")


@given(st.lists(TEXT, max_size=4))
def test_a_block_of_code_is_one_block(lines: list[str]) -> None:
    (token,) = MarkdownIt().parse(fenced(lines))
    assert token.type == "fence"
    assert token.content.splitlines() == [visible(line) for line in lines]


@given(TEXT)
def test_masking_twice_is_masking_once(text: str) -> None:
    assert masked(masked(text)) == masked(text)
