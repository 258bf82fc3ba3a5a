"""CODEOWNERS, as GitHub reads it, and the sections of GitLab."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_responses.find.owners import Owners, load, owners

TEXT = """\
# who sees to what
*                 @all
*.js              @js #an inline comment
docs/*            @docs docs@example.com
apps/             @apps
/build/logs/      @logs
**/deep/file      @deep
/apps/nobody
with\\ blank.py   @blank
!*.py             @never
[a-z].py          @never
\\#odd.py          @never
"""


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a.txt", ["@all"]),
        ("src/a.py", ["@all"]),
        ("src/page.js", ["@js"]),
        ("docs/a", ["@docs", "docs@example.com"]),
        ("docs/page.js", ["@docs", "docs@example.com"]),  # the last line that matches, not the nearest
        ("docs/deeper/a", ["@all"]),  # unlike in .gitignore
        ("src/docs/a", ["@all"]),
        ("apps/a", ["@apps"]),
        ("src/apps/deeper/a", ["@apps"]),
        ("build/logs/x/y", ["@logs"]),
        ("src/build/logs/x", ["@all"]),
        ("src/deep/file", ["@deep"]),
        ("apps/nobody", []),
        ("apps/nobody/a", []),
        ("with blank.py", ["@blank"]),
        ("b.py", ["@all"]),
        ("#odd.py", ["@all"]),
    ],
)
def test_the_last_line_that_matches_counts(name: str, found: list[str]) -> None:
    assert list(Owners(TEXT).of(name)) == found


def test_sections_each_name_their_owners_and_default_ones() -> None:
    rules = Owners(
        "* @all\n[Data][2] @dba @data\n*.sql\n/models/ @models\n^[Docs] @docs\n*.md\n[DATA]\nx.sql @x\n"
    )
    assert rules.of("a.py") == ("@all",)
    assert rules.of("a.sql") == ("@all", "@dba", "@data")
    assert rules.of("models/a.sql") == ("@all", "@models")
    assert rules.of("models/readme.md") == ("@all", "@models", "@docs")
    assert rules.of("x.sql") == ("@all", "@x")


def test_the_first_place_counts(tmp_path: Path) -> None:
    assert load(str(tmp_path)) is None
    assert owners(str(tmp_path), {"a.py": "a.py"}) == {}
    for number, folder in enumerate(("docs", ".", ".github")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "CODEOWNERS").write_text(f"* @{number}\n", encoding="utf-8")
        assert owners(str(tmp_path), {"shown/a.py": "a.py"}) == {"shown/a.py": (f"@{number}",)}


def test_a_byte_order_mark_and_other_line_ends_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "CODEOWNERS").write_bytes(b"\xef\xbb\xbf*.py @py\r\n*.md @md\r\n")
    assert owners(str(tmp_path), {"a.py": "a.py", "a.md": "a.md"}) == {"a.py": ("@py",), "a.md": ("@md",)}


def test_a_file_that_is_too_large_names_nobody(tmp_path: Path) -> None:
    (tmp_path / "CODEOWNERS").write_text("# " + "x" * 3 * 1024 * 1024 + "\n* @all\n", encoding="utf-8")
    assert load(str(tmp_path)) is None
