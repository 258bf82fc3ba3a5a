"""Diffs as the HTML report has them: what stands side by side, what is marked, what is shown for a call."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from migrate_responses.show.html_code import CLASSES, highlighted
from migrate_responses.show.html_diff import CHANGED, FileDiff, Row


def shown(row: Row) -> tuple[str | None, str | None]:
    """A row as text, with what is marked in it in brackets."""
    old, new = row
    return _cell(old), _cell(new)


def _cell(cell: list[object] | None) -> str | None:
    if cell is None:
        return None
    pairs = zip(cell[::2], cell[1::2], strict=True)
    return "".join(f"[{text}]" if int(str(style)) >= CHANGED else str(text) for text, style in pairs)


def test_lines_that_are_alike_stand_side_by_side() -> None:
    before = b"a = [\n    first(1),\n    second(two, 2),\n]\nsame\n"
    after = b"a = [\n    second(two, 3),\n    third()\n]\nsame\n"
    (hunk,) = FileDiff("a.py", before, after).hunks
    assert [shown(row) for row in hunk.rows] == [
        ("a = [", "a = ["),
        ("    first(1),", None),
        ("    second(two, [2]),", "    second(two, [3]),"),
        (None, "    third()"),
        ("]", "]"),
        ("same", "same"),
        ("", ""),
    ]
    assert (hunk.old, hunk.new, hunk.end) == (1, 1, 7)


def test_counts_and_line_ends() -> None:
    diff = FileDiff("a.py", b"one\r\ntwo\rthree\n", b"one\r\n2\rthree\nfour\n")
    assert (diff.added, diff.removed) == (2, 1)
    assert not FileDiff("a.py", b"same\n", b"same\n").hunks


def test_views_show_what_a_call_is_about() -> None:
    before = "".join(f"line{number}\n" for number in range(1, 101)).encode()
    after = before.replace(b"line10\n", b"ten\n").replace(b"line17\n", b"17\n").replace(b"line60\n", b"60\n")
    diff = FileDiff("a.py", before, after)
    assert [hunk.old for hunk in diff.hunks] == [7, 57]
    assert diff.views([10]) == ["0.0-8"]  # three lines around: rows 0 to 8 of 7..20
    assert diff.views([10, 17]) == ["0"]
    assert diff.views([60, 80], []) == ["1"]  # nothing changes at line 80
    assert diff.views([], [60, 80, 82, 200]) == ["1", "2"]
    assert (diff.hunks[2].old, len(diff.hunks[2].rows), diff.hunks[2].changes) == (77, 9, False)
    assert diff.views([], [80, 82]) == ["2"]  # not shown twice


def test_a_large_change_is_paired_in_order() -> None:
    before = "".join(f"a{number}\n" for number in range(100)).encode()
    after = "".join(f"b{number}\n" for number in range(90)).encode()
    (hunk,) = FileDiff("a.txt", before, after).hunks
    assert sum(None not in row for row in hunk.rows) == 91


def test_bytes_that_are_no_text_are_written_out() -> None:
    (hunk,) = FileDiff("a.py", b"x = '\xff'\n", b"y = '\xff'\n").hunks
    assert shown(hunk.rows[0]) == ("[x] = '\\xff'", "[y] = '\\xff'")


def test_syntax() -> None:
    source = (
        "@cached.one  # why\n"
        "class A(B):\n"
        '    """of\n    def more"""\n'
        "    def f(self, n=0x1F): return f'{n!r} {{x}}' if n is None else \"it's\"\n"
        "undefined = not_in or \u202e'open\n"
    )
    found = [
        "".join(part if not style else f"<{CLASSES[style]} {part}>" for part, style in line)
        for line in highlighted("a.py", source)
    ]
    assert found == [
        "<d @cached.one>  <c # why>",
        "<k class> <d A>(B):",
        '    <s """of>',
        '<s     def more""">',
        "    <k def> <d f>(self, n=<n 0x1F>): <k return> <s f'>{n!r}<s  {{x}}'> <k if> n <k is> <n None>"
        ' <k else> <s "it\'s">',
        "undefined = not_in <k or> \\u202e<s 'open>",
        "",
    ]
    assert highlighted("a.md", "It's a `class`\nx\n") == [[("It's a `class`", 0)], [("x", 0)], []]
    assert highlighted("a.py", "a\nb\nc\n", 2) == [[("a", 0)], [("b", 0)]]


_LINES = st.lists(
    st.sampled_from(["", "a = 1", "    a = 2", "call(a, b)", '"""', "# it's", "call(a, c)"]), max_size=14
)


@given(_LINES, _LINES)
def test_the_hunks_make_the_one_text_of_the_other(before: list[str], after: list[str]) -> None:
    diff = FileDiff("a.py", "\n".join(before).encode(), "\n".join(after).encode())
    made = before or [""]
    for hunk in reversed(diff.hunks):
        old, new = ([cell for cell in side if cell is not None] for side in zip(*hunk.rows, strict=True))
        first = hunk.old - 1
        assert ["".join(map(str, cell[::2])) for cell in old] == made[first : hunk.end - 1]
        made = made[:first] + ["".join(map(str, cell[::2])) for cell in new] + made[hunk.end - 1 :]
    assert made == (after or [""])


@given(_LINES, _LINES, st.sets(st.integers(1, 14), min_size=1))
def test_every_line_that_must_be_seen_is_seen_once(
    before: list[str], after: list[str], lines: set[int]
) -> None:
    diff = FileDiff("a.py", "\n".join(before).encode(), "\n".join(after).encode())
    seen: list[int] = []
    for view in diff.views([], lines):
        number, _, rows = view.partition(".")
        hunk = diff.hunks[int(number)]
        first, last = map(int, rows.split("-")) if rows else (0, len(hunk.rows))
        seen += hunk.lines(first, last)
    assert {line for line in lines if line <= len(before or [""])} <= set(seen)
    assert len(seen) == len(set(seen))
