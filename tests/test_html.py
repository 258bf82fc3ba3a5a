"""The HTML report: what is in the file. What it does in a browser is in ``test_html_page``."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from migrate_responses import cli
from migrate_responses.config import read_toml
from migrate_responses.results import FileResult
from migrate_responses.show.document import document
from migrate_responses.show.formats import Report
from migrate_responses.show.html import SCRIPTS, STYLES, as_html
from migrate_responses.show.html_sites import embedded
from migrate_responses.show.html_tags import Html, joined, prose, tag, text
from migrate_responses.show.since import compare
from tests.reports import EVERYTHING, HEAD, READY, STOPPED, call, report

_FETCHING = {
    "src",
    "srcset",
    "data",
    "action",
    "formaction",
    "poster",
    "background",
    "ping",
    "style",
    "manifest",
}


class Page(HTMLParser):
    """The elements of a page, with their attributes and the text in each of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.raw.append((self.open[-1], data))
        else:
            self.words.append(data)

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]

    def with_class(self, name: str) -> list[dict[str, str | None]]:
        return [found for _, found in self.elements if name in (found.get("class") or "").split()]


@pytest.fixture(scope="module")
def whole() -> Report:
    return report(EVERYTHING, {"name": "project", "owners": {"app/ready.py": ("@a", "@b"), "others.py": ()}})


@pytest.fixture(scope="module")
def page(whole: Report) -> Page:
    return Page(as_html(whole))


# -- one file, without a network


def test_nothing_is_fetched(page: Page) -> None:
    for name, attributes in page.elements:
        assert not _FETCHING & attributes.keys(), (name, attributes)
        assert name not in ("link", "iframe", "object", "embed", "base", "form", "img", "audio", "video"), (
            name
        )
        if "href" in attributes:
            assert name == "a"
            assert re.match(r"#|https://", attributes["href"] or ""), attributes
    for kind, written in page.raw:
        assert not re.search(r"@import|url\(|fetch\(|XMLHttp|WebSocket|EventSource|import\(", written), kind


def test_no_handlers_and_no_strings_that_become_code(page: Page) -> None:
    for name, attributes in page.elements:
        assert not [key for key in attributes if key.startswith("on")], name
    scripts = "".join(written for kind, written in page.raw if kind == "script")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", scripts
    )


def test_the_policy_lets_only_the_own_script_and_style_run(page: Page) -> None:
    (policy,) = (meta["content"] for meta in page.all("meta") if meta.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    running = [one for one in page.all("script") if one.get("type") != "application/json"]
    assert running == [{}]
    ((style,), (*_, script)) = (
        [written for kind, written in page.raw if kind == which] for which in ("style", "script")
    )
    for directive, content in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy


def test_the_policy_comes_before_all_that_it_is_about(whole: Report) -> None:
    written = as_html(whole)
    assert written.startswith(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv='
    )


def test_it_is_ascii_and_the_same_each_time(whole: Report) -> None:
    assert as_html(whole).isascii()
    assert as_html(whole) == as_html(report(EVERYTHING, {"name": "project", "owners": whole.owners}))


def test_the_date_is_there_if_it_was_asked_for(whole: Report) -> None:
    facts = re.compile("<li>2026-01-02</li>")
    assert not facts.search(as_html(whole))
    assert facts.search(as_html(replace(whole, date="2026-01-02")))


def test_the_parts_of_the_page_are_packaged() -> None:
    from importlib.resources import files

    folder = files("migrate_responses.show") / "page"
    for name in (*STYLES, *SCRIPTS):
        assert (folder / name).read_bytes().isascii(), name


def test_an_installed_package_has_all_its_files() -> None:
    root = Path(__file__).parent.parent
    tables = read_toml(str(root / "pyproject.toml"))["tool"]["setuptools"]
    packaged = {
        found
        for package, patterns in tables["package-data"].items()
        for pattern in patterns
        for found in root.joinpath(*package.split(".")).glob(pattern)
    }
    others = {
        path
        for path in (root / "migrate_responses").rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and "transforms" not in path.parts
    }
    assert others
    assert others <= packaged


def test_the_pictures_are_small_and_fetch_nothing() -> None:
    pictures = Path(__file__).parent.parent / "docs" / "pictures"
    assert {path.name for path in pictures.iterdir()} == {"report.png", "report-dark.png", "terminal.svg"}
    for path in pictures.iterdir():
        assert path.stat().st_size < 200_000, path
    drawn = (pictures / "terminal.svg").read_text("utf-8")
    assert "migrate-responses apply" in drawn.replace("&#160;", " ")
    assert not re.search(r"@import|src|href|url\((?!#)", drawn)


# -- what it tells


def test_every_call_is_there_once(page: Page, whole: Report) -> None:
    sites = page.with_class("site")
    assert sorted(str(site["data-verdict"]) for site in sites) == sorted(
        site.verdict.value for site in whole.outcome.sites
    )
    assert len({site["data-at"] for site in sites}) == len(sites)
    assert {str(file["data-path"]) for file in page.with_class("file")} == {
        site.path for site in whole.outcome.sites
    }


def test_filters_offer_what_there_is(page: Page) -> None:
    offered: dict[str, set[str]] = {}
    for one in page.all("input"):
        if one.get("name"):
            offered.setdefault(str(one["name"]), set()).add(str(one["value"]))
    assert offered["verdict"] == {"migrated", "unsafe", "manual", "left", "skipped"}
    assert {"MR110", "MR112", "MR908"} <= offered["rule"]
    assert offered["owner"] == {"@a", "@b", "(nobody)"}
    assert offered["file"] == {"app/ready.py", "app/stopped.py", "app/seeded.py", "others.py", "skipped.py"}


def test_without_codeowners_nobody_is_asked_for(whole: Report) -> None:
    assert 'data-facet="owner"' not in as_html(replace(whole, owners={}))


def test_every_code_leads_to_its_rule(page: Page) -> None:
    linked = {str(link["href"]) for link in page.with_class("rule") if "href" in link}
    ids = {f"#{found['id']}" for _, found in page.elements if "id" in found}
    assert {"#MR112", "#MR001", "#MR901"} <= linked <= ids


def test_errors_stand_first(whole: Report) -> None:
    written = as_html(whole)
    assert written.index("Not processed") < written.index("can be migrated")


def test_totals(page: Page) -> None:
    words = re.sub(r"\s+", " ", "".join(page.words))
    assert "2 of 4 calls can be migrated now; 2 are held back, 1 of them for an unsafe fix" in words
    for figure in (
        "1 migrated",
        "2 ready",
        "1 held back (unsafe fix)",
        "1 held back",
        "1 left alone",
        "1 skipped",
    ):
        assert figure in words, figure


def test_the_options_of_the_run() -> None:
    page = Page(
        as_html(
            report(
                {"a.py": READY},
                unsafe_fixes=True,
                api_defaults="adopt",
                assume_responses=frozenset({"dynamic", "azure"}),
                assume_clients=frozenset({"llm"}),
                ignore=frozenset({"MR112", "MR110"}),
                raise_on_failure=True,
            )
        )
    )
    assert (
        "--unsafe-fixes --api-defaults adopt --assume-responses azure --assume-responses dynamic"
        " --assume-client llm --ignore MR110,MR112 --raise-on-failure"
    ) in page.words


def test_a_project_without_calls() -> None:
    written = as_html(report({"a.py": "x = 1\n"}))
    assert "No Chat Completions calls to OpenAI in 1 Python file." in written
    assert 'id="search"' not in written


def test_links_to_the_code_where_it_is_known() -> None:
    found = report({"a b.py": READY}, {"links": "https://git.example/o/r/blob/1a/", "prefix": "sub"})
    page = Page(as_html(found))
    lines = [site.line for site in found.outcome.sites]
    links = [str(link["href"]) for link in page.all("a") if str(link["href"]).startswith("https://git.")]
    assert links == [f"https://git.example/o/r/blob/1a/sub/a%20b.py#L{line}" for line in lines]


def test_a_reason_with_several_places_is_told_once() -> None:
    found = report({"a.py": HEAD + call("one", '        stop="a",\n') + call("two", '        stop="a",\n')})
    reason = found.outcome.sites[0].reasons[0]
    site = replace(found.outcome.sites[0], reasons=(reason, replace(reason, line=99)))
    page = Page(as_html(replace(found, outcome=replace(found.outcome, sites=(site,)))))
    words = "".join(page.words)
    assert words.count("has no Responses equivalent") == 1
    assert f"line {reason.line}, line 99" in words


def test_keys_are_not_shown() -> None:
    key = "sk-proj-abcdefgh12345678ABCDEFGH"
    source = READY.replace("OpenAI()", f'OpenAI(api_key="{key}")').replace(
        "question)", f'question, k="{key}")'
    )
    assert key not in as_html(report({"a.py": source}))


def test_earlier_reports_are_drawn(whole: Report) -> None:
    first = report({**EVERYTHING, "more.py": READY}, {"date": "2026-01-01"})
    second = report({**EVERYTHING, "more.py": STOPPED}, {"date": "2026-02-01"})
    history = tuple(compare("then.json", document(one), document(whole)) for one in (first, second))
    page = Page(as_html(replace(whole, since=history[-1], history=history)))
    (plot,) = page.with_class("plot")
    assert plot["aria-label"] == "Calls on Chat Completions. 2026-01-01: 6; 2026-02-01: 5; now: 4"
    assert len(page.all("polygon")) == 3
    words = re.sub(r"\s+", " ", "".join(page.words))
    assert "4 calls on Chat Completions, 2 fewer than at 2026-01-01." in words
    assert "Since 2026-02-01" in words
    assert "1 gone" in words


def test_two_reports_of_one_day_have_names(whole: Report) -> None:
    days = ("2026-01-01", "2026-02-01", "2026-02-01")
    then = [report({**EVERYTHING, f"{n}.py": READY}, {"date": day}) for n, day in enumerate(days)]
    history = tuple(compare(f"{n}.json", document(one), document(whole)) for n, one in enumerate(then))
    page = Page(as_html(replace(whole, since=history[-1], history=history)))
    (plot,) = page.with_class("plot")
    assert plot["aria-label"] == (
        "Calls on Chat Completions. 2026-01-01: 6; 2026-02-01 1.json: 6; 2026-02-01 2.json: 6; now: 4"
    )


def test_the_command_draws_earlier_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    source = tmp_path / "a.py"
    for day, code in ((1, READY + call("third")), (2, READY), (3, STOPPED)):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(day * 86400))
        source.write_text(code, encoding="utf-8")
        form = ["--format", "html"] if day == 3 else ["--format", "json"]
        since = ["--since", "1.out", "--since", "2.out"] if day == 3 else []
        result = CliRunner().invoke(cli.cli, ["report", *form, "--date", *since, "--output", f"{day}.out"])
        assert result.exit_code == 0, result.output
    page = Page((tmp_path / "3.out").read_text("utf-8"))
    (plot,) = page.with_class("plot")
    assert plot["aria-label"] == "Calls on Chat Completions. 1970-01-02: 3; 1970-01-03: 2; 1970-01-04: 1"
    assert "Since 1970-01-03" in re.sub(r"\s+", " ", "".join(page.words))


def test_the_command_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "CODEOWNERS").write_text("*.py @team\n", encoding="utf-8")
    (tmp_path / "a.py").write_text(READY, encoding="utf-8")
    result = CliRunner().invoke(cli.cli, ["report", "--format", "html", "--output", "out.html"])
    assert result.exit_code == 0, result.output
    page = Page((tmp_path / "out.html").read_text("utf-8"))
    assert [file["data-owners"] for file in page.with_class("file")] == ["@team"]
    assert tmp_path.name in page.words


def test_a_file_that_changes_without_a_call_is_listed() -> None:
    found = report({"a.py": READY})
    more = FileResult("b.py", b"x = 1\n", b"x = 2\n")
    outcome = replace(found.outcome, changed=(*found.outcome.changed, more))
    page = Page(as_html(replace(found, outcome=outcome)))
    assert [file["data-path"] for file in page.with_class("file")] == ["a.py", "b.py"]
    assert len(page.with_class("whole")) == 2


# -- text that could do harm


def test_tags_escape_their_content() -> None:
    hostile = "<b>\"'&\u202e\x1b"
    assert text(hostile) == "&lt;b&gt;&quot;&#x27;&amp;\\u202e\\x1b"
    assert tag("a", hostile, [hostile, 1, None], title=hostile) == (
        f'<a title="{text(hostile)}">{text(hostile)}{text(hostile)}1</a>'
    )
    assert (
        tag("input", hidden=True, value=None, class_="x", data_y=0) == '<input hidden class="x" data-y="0">'
    )
    assert joined(["<", tag("i", "<")]) == "&lt;<i>&lt;</i>"
    assert prose("`<a>` and `b`") == "<code>&lt;a&gt;</code> and <code>b</code>"
    assert prose("a lone ` is <none>") == "a lone ` is &lt;none&gt;"
    with pytest.raises(TypeError, match="not a child"):
        joined([object()])


@pytest.mark.parametrize("hostile", ["</script>", "<!--<script>", "\u2028", "]]>", "\ud800", "&lt;"])
def test_data_cannot_leave_its_element(hostile: str) -> None:
    written = embedded([hostile])
    assert isinstance(written, Html)
    assert written.isascii()
    assert not re.search("[<>&]", written)
    assert json.loads(written) == [hostile]
