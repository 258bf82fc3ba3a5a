"""The pages ``docs/rewrites.md`` and ``docs/stays.md``, made from the rule book.

``python -m migrate_responses.show.docs_pages FOLDER`` writes them, and ``rules.md`` with them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from migrate_responses.results import Level
from migrate_responses.rules import RULES, SECTIONS, Rule
from migrate_responses.show import rules_page

_MADE = (
    "Made from `migrate_responses/rulebook` by `python -m migrate_responses.show.docs_pages docs`;\n"
    "edit the rules, not this page."
)
_MIGRATED = (Level.SAFE, Level.UNSAFE)


def rewrites() -> str:
    """What is rewritten: for each rule the code before and after."""
    lines = [
        "# What it rewrites\n",
        f"{_MADE}\n",
        "Every pair shows one rule; in a program they work together, over functions and files. Rules marked",
        "*unsafe* may change behaviour and need `--unsafe-fixes`. What is not here stays as it is:",
        "[what it leaves](stays.md).",
    ]
    for heading, rules in _sections(*_MIGRATED):
        lines.append(f"\n## {heading}\n")
        lines.append("<table>\n<tr><th>rule</th><th>before</th><th>after</th></tr>")
        lines += (_row(rule) for rule in rules)
        lines.append("</table>")
    return "\n".join(lines) + "\n"


def stays() -> str:
    """What is left alone: for each rule why, what to do about it, and what a person would write."""
    lines = [
        "# What it leaves, and why\n",
        f"{_MADE}\n",
        "A call that cannot be moved stays on Chat Completions, which OpenAI goes on serving, whole",
        "and working. The TODO comment above it, and `report`, name the code. Rules marked *note* are",
        "reported and nothing more.",
    ]
    for heading, rules in _sections(Level.MANUAL, Level.NOTE):
        lines.append(f"\n## {heading}")
        for rule in rules:
            lines += _story(rule)
    return "\n".join(lines) + "\n"


def _sections(*levels: Level) -> Iterator[tuple[str, list[Rule]]]:
    for digit, heading in SECTIONS.items():
        rules = [rule for rule in RULES if rule.code[2] == digit and rule.level in levels]
        if rules and digit != "9":
            yield heading, rules


def _row(rule: Rule) -> str:
    mark = "<br><em>unsafe</em>" if rule.level is Level.UNSAFE else ""
    name = f'<a href="rules.md#{rule.code.lower()}">{rule.code}</a><br>{rule.title}{mark}'
    return f"<tr><td>{name}</td>{_cell(rule.before)}{_cell(rule.after)}</tr>"


def _cell(code: str) -> str:
    """A cell with Python in it: the blank lines make Markdown of it again."""
    return f"<td>\n\n```python\n{code}\n```\n\n</td>" if code else "<td></td>"


def _story(rule: Rule) -> Iterator[str]:
    mark = " (note)" if rule.level is Level.NOTE else ""
    yield f"\n### [{rule.code}](rules.md#{rule.code.lower()}) {rule.title}{mark}\n"
    yield rule.explanation
    if rule.step:
        yield f"\nNext step: {rule.step}."
    if rule.after and rule.after != rule.before:
        yield f"\n```python\n# before\n{rule.before}\n# by hand\n{rule.after}\n```"
    elif rule.before:
        yield f"\n```python\n{rule.before}\n```"


PAGES = {"rules.md": rules_page.page, "rewrites.md": rewrites, "stays.md": stays}
"""The pages by their names in docs/."""

if __name__ == "__main__":
    for name, page in PAGES.items():
        Path(sys.argv[1], name).write_text(page(), encoding="utf-8", newline="\n")
