"""Patches that git takes, text that cannot act on a terminal, and the texts for people and machines."""

from __future__ import annotations

import io
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from migrate_responses.results import Diagnostic, FileResult, Level, SiteResult, Verdict
from migrate_responses.session import Outcome
from migrate_responses.show.next_steps import Typed, after
from migrate_responses.show.patch import patch
from migrate_responses.show.report import as_table
from migrate_responses.show.screen import Screen
from migrate_responses.show.summary import failures, sites, summary
from migrate_responses.visible import visible


def applied(folder: Path, name: str, before: bytes, after: bytes) -> bytes:
    """What ``git apply`` makes of ``before`` with our patch."""
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(before)
    text = b"".join(patch(name, before, after))
    subprocess.run(["git", "apply", "-"], cwd=folder, input=text, check=True)
    return target.read_bytes()


@pytest.mark.parametrize(
    "name", ["a.py", "deep/er/a.py", "with blank.py", 'qu"ote.py', "\u00fcml\u00e4ut.py", "tab\there.py"]
)
def test_git_applies_any_name(tmp_path: Path, name: str) -> None:
    assert applied(tmp_path, name, b"a\nb\n", b"a\nc\n") == b"a\nc\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
        (b"a\nb", b"a\nB"),
        (b"a\nb", b"a\nb\n"),
        (b"a\nb\n", b"a\nb"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfb\n"),
        (b"caf\xe9\n", b"caff\xe8\n"),
        (b"a\x0cb\nc\x1c\n", b"a\x0cB\nc\x1c\n"),
        (b"a\rb\nc\n", b"a\rB\nc\n"),
    ],
)
def test_git_applies_any_bytes(tmp_path: Path, before: bytes, after: bytes) -> None:
    assert applied(tmp_path, "a.py", before, after) == after


LINES = st.lists(st.sampled_from([b"a", b"b", b"", b"\r", b"-x", b"+x", b"@@"]), max_size=12)


@given(LINES, LINES, st.booleans(), st.booleans())
def test_patch_holds_both_sides(old: list[bytes], new: list[bytes], end: bool, finish: bool) -> None:
    before = b"\n".join(old) + (b"\n" if end else b"")
    after = b"\n".join(new) + (b"\n" if finish else b"")
    lines = list(patch("x.py", before, after))
    assert bool(lines) == (before != after)
    assert all(line.endswith(b"\n") for line in lines)
    text = b"".join(lines)
    assert text.count(b"\\ No newline") <= 2


def test_visible_disarms() -> None:
    assert visible("\x1b]0;x\x07a\u202eb\tc") == "\\x1b]0;x\\x07a\\u202eb\tc"
    assert visible(os.fsdecode(b"a\xff.py")) == "a\\udcff.py"
    assert visible("[bold]plain[/bold] \u00e9\u4e2d") == "[bold]plain[/bold] \u00e9\u4e2d"


def test_plain_screen_survives_a_narrow_encoding() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Screen(stream).line("caf\u00e9 ", ("x", "bold"))
    stream.flush()
    assert raw.getvalue() == b"caf\\xe9 x\n"


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_markup_in_source_stays_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Terminal()
    Screen(stream).line("[red]not red[/red] :smile: \x1b[31m", (" styled", "red"))
    text = stream.getvalue()
    assert "[red]not red[/red] :smile: \\x1b[31m" in text
    assert "\x1b[31m styled" in text


@pytest.mark.parametrize("variable", [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_colour(monkeypatch: pytest.MonkeyPatch, variable: tuple[str, str]) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Screen(Terminal()).colour
    assert not Screen(Terminal(), no_colour=True).colour
    monkeypatch.setenv(*variable)
    assert not Screen(Terminal()).colour


def site(verdict: Verdict, *codes: tuple[str, Level], path: str = "a.py", line: int = 1) -> SiteResult:
    reasons = tuple(Diagnostic(code, path, line, 5, level, "why", "do") for code, level in codes)
    return SiteResult(path, line, 5, "client.chat.completions.create", verdict, line, reasons)


MANUAL, UNSAFE = Level.MANUAL, Level.UNSAFE
RESULT = Outcome(
    sites=(
        site(Verdict.MIGRATED),
        site(Verdict.MANUAL, ("MR112", MANUAL), ("MR021", MANUAL), line=2),
        site(Verdict.MANUAL, ("MR021", MANUAL), line=3, path="b.py"),
        site(Verdict.UNSAFE, ("MR110", UNSAFE), line=4),
        site(Verdict.LEFT, ("MR011", Level.NOTE), line=5),
        site(Verdict.SKIPPED, ("MR908", Level.NOTE), line=6),
    ),
    notes=(),
    errors=(Diagnostic("MR901", os.fsdecode(b"\xff.py"), 3, 1, MANUAL, "bad", "mend it"),),
    changed=(FileResult("a.py", b"a", b"b"),),
    seen=9,
    read=3,
)


def told(done: bool, result: Outcome = RESULT) -> str:
    stream = io.StringIO()
    summary(Screen(stream), result, done=done)
    return stream.getvalue()


def test_summary() -> None:
    assert told(done=False) == (
        "6 Chat Completions calls in 2 files (parsed 3 files of 9)\n"
        "     1 ready to migrate\n"
        "     3 held back, for these reasons (a call can have several):\n"
        "          2 MR021 Base URL known only at run time\n"
        "          1 MR110 seed\n"
        "          1 MR112 stop\n"
        "     1 left alone\n"
        "          1 MR011 Another SDK with the same spelling\n"
        "     1 skipped\n"
        "          1 MR908 Suppressed by a comment\n"
        "     1 file could not be processed (MR901, see above)\n"
    )


def test_summary_of_what_was_taken() -> None:
    taken = tuple(Diagnostic("MR803", "t.py", line, 1, UNSAFE, "why", "") for line in (1, 2))
    result = replace(RESULT, notes=(*taken, Diagnostic("MR314", "a.py", 1, 1, Level.NOTE, "why", "")))
    line = "       2 places to look at{}: 2 MR803 Test double not understood\n"
    assert line.format(" (-v)") in told(done=False, result=result)
    assert line.format(" now (see above)") in told(done=True, result=result)


def test_summary_after_the_fact() -> None:
    assert "1 migrated" in told(done=True)


def test_summary_of_nothing() -> None:
    empty = Outcome((), (), (), (), seen=5, read=0, asked=1)
    assert told(done=False, result=empty) == "No Chat Completions calls in 1 file.\n"
    assert told(done=False, result=replace(empty, asked=0)) == "No Python files there.\n"
    broken = replace(empty, errors=RESULT.errors)
    assert told(done=False, result=broken) == "     1 file could not be processed (MR901, see above)\n"


NEXT = [
    ("migrate-responses apply --exclude 'a b' src", "write it"),
    ("migrate-responses apply --exclude 'a b' src -i", "write it, asked flow by flow"),
    (
        "migrate-responses diff --exclude 'a b' src --assume-responses dynamic",
        "if the server of 2 calls, whose base URL is known only at run time, has /responses",
    ),
    ("migrate-responses diff --exclude 'a b' src --unsafe-fixes", "1 more call, if this is fine: MR110 seed"),
    ("migrate-responses report --exclude 'a b' src --explain-flow a.py:2", "why this call stays"),
    ("migrate-responses explain MR021", "the story behind a code"),
]


def test_what_to_type_next() -> None:
    typed = Typed(["-v", "--exclude", "a b", "src"], ["src"])
    assert list(after("diff", typed, RESULT, unsafe=False)) == NEXT
    assert [one for one in after("diff", typed, RESULT, unsafe=True) if "--unsafe-fixes" in one[0]] == []
    nothing = replace(RESULT, sites=(), changed=())
    assert list(after("diff", typed, nothing, unsafe=False)) == []
    [(command, purpose)] = after("diff", typed, nothing, unsafe=False, texts=2)
    assert command == "migrate-responses diff --exclude 'a b' src --include-docs"
    assert purpose == "look at the code in 2 texts that name Chat Completions"


def test_many_paths_are_not_repeated() -> None:
    names = [f"f{number}.py" for number in range(200)]
    assert Typed(["--select", "MR1", *names], names).with_("diff") == "migrate-responses diff --select MR1 ."
    names = [f"src/a/{number}/b.py" for number in range(200)]
    assert Typed(["-v", *names], names).with_("diff") == "migrate-responses diff src/a"


def test_a_reason_behind_several_calls_is_told_once() -> None:
    stream = io.StringIO()
    reason = Diagnostic("MR112", "a.py", 4, 9, MANUAL, "why", "do")
    held = [replace(site(Verdict.MANUAL, line=line), reasons=(reason,)) for line in (2, 7)]
    sites(Screen(stream), [*held, replace(held[0], path="b.py")], ())
    assert stream.getvalue() == "a.py:4:9: MR112 why; do (holds back 3 calls: a.py:2, 7; b.py:2)\n"


def test_many_files_with_one_trouble_are_counted() -> None:
    stream = io.StringIO()
    wrong = [
        Diagnostic("MR906", f"f{number}.py", 0, 0, MANUAL, "is not in git", "do") for number in range(14)
    ]
    failures(Screen(stream), [*wrong, replace(wrong[0], message="is changed")])
    lines = stream.getvalue().splitlines()
    assert lines[9:] == [
        "f9.py: MR906 is not in git; do",
        "f0.py: MR906 is changed; do",
        "4 more files: MR906 is not in git",
    ]


def test_what_unsafe_fixes_cannot_free_is_not_promised() -> None:
    stream = io.StringIO()
    both = (("MR112", MANUAL), ("MR110", UNSAFE))
    held = [site(Verdict.MANUAL, *both), site(Verdict.UNSAFE, ("MR110", UNSAFE), line=2)]
    sites(Screen(stream), held, ())
    assert stream.getvalue().splitlines() == [
        "a.py:1:5: MR112 why; do",
        "a.py:1:5: MR110 why",
        "a.py:2:5: MR110 why; do",
    ]


def test_table() -> None:
    stream = io.StringIO()
    as_table(Screen(stream), RESULT)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "a.py"
    assert lines[2].split() == ["2:5", "held", "back", "client.chat.completions.create"]
    assert lines[3].strip() == "MR112 why; also MR021"
    assert "b.py" in lines
