"""What the HTML report does in a browser, with real clicks and keys."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from migrate_responses.show.html import as_html
from tests import browser
from tests.browser import Browser, Failure
from tests.reports import EVERYTHING, HEAD, READY, STOPPED, call, report

_PATH = browser.find()
pytestmark = pytest.mark.skipif(
    _PATH is None, reason="no Chromium here; install one, or name it in the environment variable CHROMIUM"
)

MARKUP = "</script><script>window.harm = 1</script><img src=x onerror='window.harm = 2'><!-- \u2028 \u202e"
HOSTILE = {
    f"<img src=x onerror=alert{number}>&quot;#file=a&at=.py": source
    for number, source in enumerate(
        (
            HEAD
            + f"# {MARKUP}\nTEXT = {MARKUP!r}\n"
            + call("plain", f"        user={MARKUP!r},  # {MARKUP}\n"),
            HEAD + call("stopped", f"        stop=[{MARKUP!r}],\n"),
        )
    )
}
FLOW = {
    "tools.py": 'TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {}}}]\n',
    "agent.py": "from tools import TOOLS\n"
    + HEAD
    + call("look", "        tools=TOOLS,\n").replace(".content", ".tool_calls[0].function.name"),
}
PROJECT = {**EVERYTHING, **HOSTILE, **FLOW}
OWNERS = {path: ("@team/app",) if path.startswith("app/") else () for path in PROJECT}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    assert _PATH is not None
    with contextlib.ExitStack() as stack:
        try:
            found = stack.enter_context(Browser(_PATH))
        except Failure as failure:
            pytest.skip(f"{_PATH} does not start: {failure}")
        yield found


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(as_html(report(PROJECT, {"name": "project", "owners": OWNERS})), encoding="utf-8")
    return path


@pytest.fixture
def page(chromium: Browser, file: Path) -> Iterator[Browser]:
    """The report, just opened; afterwards nothing was fetched and nothing went wrong."""
    chromium.size(1300, 900)
    chromium.prefer("light")
    chromium.open(file.as_uri())
    chromium.value("localStorage.clear()")
    chromium.open(file.as_uri())
    yield chromium
    assert [url for url in chromium.requests if not url.startswith(file.as_uri())] == []
    assert chromium.complaints == []


def paths(page: Browser) -> list[str]:
    """The files that are shown."""
    found: list[str] = page.value(
        "[...document.querySelectorAll('.file:not([hidden])')].map((file) => file.dataset.path)"
    )
    return found


def focus(page: Browser) -> Any:
    """The line of the call that has the focus."""
    active = "document.activeElement"
    return page.value(f"{active}.closest('summary')?.firstChild.textContent ?? {active}.id")


def anew(page: Browser, fragment: str) -> None:
    """The page opened by somebody who was sent a link."""
    page.open(f"{page.value('location.href.split(`#`)[0]')}{fragment}")


# -- filters and search


def test_clicks_on_filters_choose_calls(page: Browser) -> None:
    total = len(page.texts(".site > summary"))
    page.click("input[value=manual]")
    assert set(page.texts(".site .badge")) == {"held back"}
    assert page.text("#status") == f"{len(page.texts('.site > summary'))} of {total} calls"
    page.click("input[value=MR112]")
    assert set(page.texts(".site .codes")) == {"MR112"}
    page.click("input[value='@team/app']")
    assert paths(page) == ["app/stopped.py"]
    assert page.value("location.hash") == "#verdict=manual&rule=MR112&owner=%40team%2Fapp"
    assert len(page.texts("#chosen button")) == 3
    page.click("#chosen button")
    page.click("input[value=manual]")
    page.click("input[value=manual]")
    page.click("input[value=MR112]")
    assert set(paths(page)) == {path for path in PROJECT if path.startswith("app/")}
    page.click("input[value='@team/app']")
    assert page.text("#status") == f"{total} calls"
    assert page.value("location.hash") == ""


def test_counts_are_those_of_the_calls_to_be_had(page: Browser) -> None:
    page.click("input[value='@team/app']")
    counts = dict(line.split("\n") for line in page.texts("[data-facet=verdict] label"))
    assert counts == {
        "ready": "2",
        "held back": "1",
        "held back (unsafe fix)": "1",
        "left alone": "0",
        "skipped": "0",
    }
    page.click("input[value=unsafe]")
    assert [count.split("\n")[-1] for count in page.texts("[data-facet=owner] label")] == ["0", "1"]


def test_what_is_typed_is_searched_for(page: Browser) -> None:
    page.click("#search")
    page.press(*"Stopped sequence")
    page.until("location.hash === '#text=Stopped+sequence'")
    assert paths(page) == []
    assert page.texts("#nothing") == ["No call matches. Clear all filters"]
    page.click("#clear")
    page.click("#search")
    page.press(*"app/ temperature")
    page.until("location.hash.endsWith('temperature')")
    assert paths(page) == []  # the excerpt has it, the list does not
    page.press("Escape")
    page.press(*"sec")
    page.until("location.hash === '#text=sec'")
    assert [text.split("\n")[-1] for text in page.texts(".site .scope")] == ["second"]


def test_a_view_can_be_shared(page: Browser) -> None:
    anew(page, "#text=app&verdict=manual&rule=MR112")
    assert paths(page) == ["app/stopped.py"]
    assert page.value("document.querySelector('#search').value") == "app"
    assert page.value("document.querySelector('input[value=MR112]').checked") is True
    page.click(".site > summary")
    shared = page.value("location.hash")
    anew(page, shared)
    assert (
        page.value("document.querySelector('.site[open]').closest('.file').dataset.path") == "app/stopped.py"
    )


def test_links_above_lead_to_calls(page: Browser) -> None:
    page.click(".legend a.unsafe")
    page.until("location.hash === '#verdict=unsafe' && chosen.verdict.size")
    assert paths(page) == ["app/seeded.py"]
    page.value("history.back()")
    page.until("!location.hash && !chosen.verdict.size")
    assert len(paths(page)) == len(set(paths(page))) > 5


def test_odd_fragments_do_no_harm(page: Browser) -> None:
    for fragment in (
        "#",
        "#x",
        "#=",
        "#verdict=",
        "#verdict=nobody&owner=%zz",
        "#at=%00",
        "#rule=<b>&text=%22",
    ):
        anew(page, fragment)
        assert page.text("h1") == "project"


# -- calls and diffs


def test_a_click_opens_a_call_with_its_diff(page: Browser) -> None:
    page.click(".file[data-path='app/ready.py'] .site > summary")
    page.until("document.querySelector('.site[open] .diff.split')")
    old, new = (page.texts(f".site[open] .code.{side}") for side in ("old", "new"))
    assert "answer = client.chat.completions.create(" in old
    assert "answer = client.responses.create(" in new
    assert page.texts(".site[open] mark")[:2] == ["chat.completions", "responses"]
    assert page.texts(".site[open] tr.here .no")[0] == page.text(".site[open] .line")
    assert "temperature" not in page.text(".site[open] .diffs")  # that is the next call
    page.click(".file[data-path='app/ready.py'] .whole > summary")
    page.until("document.querySelector('.whole[open] .diff')")
    assert "temperature" in page.text(".whole[open] .diffs")


def test_a_flow_is_shown_in_all_its_files(page: Browser) -> None:
    assert page.value("document.querySelectorAll('.diffs').length") == 0
    page.click(".file[data-path='agent.py'] .site > summary")
    page.until("document.querySelector('.site[open] .other-file')")
    assert page.texts(".site[open] .other-file") == ["tools.py"]
    assert any('"name": "look"' in line for line in page.texts(".site[open] .code.new"))


def test_the_layout_can_be_chosen_and_is_remembered(page: Browser) -> None:
    page.click(".file[data-path='app/ready.py'] .whole > summary")
    page.until("document.querySelector('.whole[open] .diff.split')")
    page.click("[data-layout=unified]")
    page.until("document.querySelector('.whole[open] .diff.unified')")
    assert page.value("document.querySelectorAll('.whole[open] .diff').length") == 1
    rows = page.texts(".whole[open] tbody:first-of-type tr .code")
    first = rows.index("answer = client.chat.completions.create(")
    assert rows[first + 1] == "answer = client.responses.create("
    anew(page, "")
    assert (
        page.value("document.querySelector('[data-layout=unified]').getAttribute('aria-pressed')") == "true"
    )


def test_a_call_that_stays_shows_its_reason_and_what_to_do(page: Browser) -> None:
    page.click(".file[data-path='app/stopped.py'] .site > summary")
    assert "has no Responses equivalent" in page.text(".site[open] .message")
    assert page.text(".site[open] .step").startswith("Next ")
    page.click(".site[open] a.rule")
    page.until("document.querySelector('#rule-dialog').open")
    assert page.text("#rule-title") == "MR112 stop"
    assert "Responses has no stop sequences" in page.text("#rule-dialog .content")
    page.press("Escape")
    page.until("!document.querySelector('#rule-dialog').open")
    assert page.value("document.activeElement.matches('.site[open] a.rule')") is True
    page.click(".site[open] a.rule")
    page.click(".its-calls")
    page.until("location.hash === '#rule=MR112' && chosen.rule.size")
    assert set(page.texts(".site .codes")) == {"MR112"}


# -- keys


def test_keys(page: Browser) -> None:
    page.press("j")
    first = focus(page)
    page.press("ArrowDown")
    assert focus(page) != first
    page.press("k")
    assert focus(page) == first
    page.press("Enter")
    page.until("document.querySelector('.site[open] .diff')")
    page.press("Escape")
    assert page.value("document.querySelectorAll('.site[open]').length") == 0
    assert focus(page) == first
    page.press("/")
    assert focus(page) == "search"
    page.press("j", "/", "Escape", "Escape")
    assert page.value("document.querySelector('#search').value") == ""
    assert page.value("document.activeElement === document.body") is True
    page.press("s")
    assert (
        page.value("document.querySelector('[data-layout=unified]').getAttribute('aria-pressed')") == "true"
    )
    page.press("?")
    page.until("document.querySelector('#help-dialog').open")
    page.click("#letters")
    page.press("Escape")
    # what a closed dialog held loses the focus only when the page is drawn again
    page.until("document.activeElement === document.body")
    page.press("j")
    assert focus(page) == ""  # single keys were switched off


def test_the_focus_can_be_seen(page: Browser) -> None:
    page.press("j")
    assert page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.press("Tab")
    assert page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"


# -- looks


def test_dark_and_light(page: Browser) -> None:
    shade = "getComputedStyle(document.body).backgroundColor"
    light = page.value(shade)
    page.click("#theme")
    dark = page.value(shade)
    assert light != dark
    anew(page, "")
    assert page.value(shade) == dark
    page.click("#theme")
    assert page.value(shade) == light
    page.value("localStorage.clear()")
    page.prefer("dark")
    anew(page, "")
    assert page.value(shade) == dark
    assert page.value("document.querySelector('#theme').getAttribute('aria-pressed')") == "true"


@pytest.mark.parametrize("width", [320, 400, 800, 1900])
def test_nothing_sticks_out(page: Browser, width: int) -> None:
    page.size(width, 800)
    anew(page, "")
    page.value("for (const details of document.querySelectorAll('details')) details.open = true")
    page.until("document.querySelectorAll('.diff').length > 5")
    assert page.value("document.documentElement.scrollWidth") <= width
    assert page.value("getComputedStyle(document.querySelector('#show-filters')).display") == (
        "block" if width < 990 else "none"
    )


def test_filters_open_on_a_narrow_screen(page: Browser) -> None:
    page.size(400, 800)
    assert page.texts(".filters legend") == []
    page.click("#show-filters")
    page.click("input[value=unsafe]")
    assert paths(page) == ["app/seeded.py"]


def test_paper_shows_what_is_chosen_opened(page: Browser) -> None:
    page.click("input[value=MR112]")
    page.value("dispatchEvent(new Event('beforeprint'))")
    shown = ".file:not([hidden]) li:not([hidden]) > .site"
    chosen = page.value(f"[...document.querySelectorAll('{shown}')].every((site) => site.open)")
    assert chosen is True
    assert page.value("document.querySelectorAll('.file:not([hidden]) > .whole[open] .diff').length") >= 2
    assert page.value("document.querySelectorAll('.file[hidden] details[open]').length") == 0
    page.value("dispatchEvent(new Event('afterprint'))")
    assert page.value("document.querySelectorAll('details.site[open], details.whole[open]').length") == 0
    assert page.paper().startswith(b"%PDF")


# -- harm


def test_hostile_text_is_text(page: Browser) -> None:
    page.value("for (const details of document.querySelectorAll('details')) details.open = true")
    page.until("document.querySelectorAll('.diff').length > 5")
    assert page.value("window.harm") is None
    assert page.value("document.images.length") == 0
    assert (
        page.value("[...document.scripts].filter((script) => script.type !== 'application/json').length") == 1
    )
    assert set(HOSTILE) <= set(paths(page))
    shown = page.value("document.querySelector('#list').innerText")
    assert "</script><script>window.harm = 1</script><img src=x onerror=" in shown
    assert "\\u202e" in shown
    assert "\u202e" not in shown
    held = next(path for path in HOSTILE if "alert1" in path)
    page.click(f".file[data-path='{held}'] h3 a")
    page.until("chosen.file.size")
    assert paths(page) == [held]


def test_the_policy_stops_what_is_not_of_the_page(page: Browser) -> None:
    for attempt in (
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.harm = 3'}))",
        "document.body.setAttribute('onclick', 'window.harm = 4'); document.body.click()",
        "document.body.innerHTML = '<img src=x onerror=\"window.harm = 5\">'",
        "eval('window.harm = 6')",
    ):
        with contextlib.suppress(Failure):
            page.value(f"(() => {{ {attempt} }})()")
    assert page.value("fetch('https://example.com/').then(() => 'sent', () => 'stopped')") == "stopped"
    assert page.value("window.harm") is None
    assert len(page.complaints) >= 3
    page.complaints.clear()
    page.requests.clear()


# -- many calls


def test_thousands_of_calls_can_be_filtered(chromium: Browser, tmp_path: Path) -> None:
    from dataclasses import replace

    found = report({"a.py": READY, "b.py": STOPPED})
    sites = found.outcome.sites
    many = tuple(
        replace(site, path=f"app/{number:04}/{site.path}") for number in range(1700) for site in sites
    )
    outcome = replace(found.outcome, sites=many)
    file = tmp_path / "many.html"
    file.write_text(as_html(replace(found, outcome=outcome)), encoding="utf-8")
    chromium.size(1300, 900)
    chromium.open(file.as_uri())
    assert chromium.text("#status") == "5,100 calls"
    spent = chromium.value(
        "(() => { const start = performance.now(); chosen.text = 'stopped'; applyFilters();"
        " document.body.getBoundingClientRect(); return performance.now() - start; })()"
    )
    assert chromium.text("#status") == "1,700 of 5,100 calls"
    assert spent < 5000  # a tenth of it on a machine that does nothing else
    chromium.click("input[value=migrated]")
    assert chromium.text("#status") == "0 of 5,100 calls"
    assert os.path.getsize(file) < 8_000_000
