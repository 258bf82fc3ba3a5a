"""The text of ``explain``, and the page ``docs/rules.md``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from migrate_responses.results import Level
from migrate_responses.rules import RULES, SECTIONS, Rule
from migrate_responses.show.screen import Screen

LEVELS = {
    Level.SAFE: "safe: applied by default",
    Level.UNSAFE: "unsafe: applied only with --unsafe-fixes, else held back with a TODO",
    Level.MANUAL: "manual: held back with a TODO",
    Level.NOTE: "note: reported, nothing is changed",
}
_COLUMNS = 88  # of prose, where there is room
_ERRORS = ("MR901", "MR902", "MR903", "MR904", "MR905", "MR906", "MR914")
_WITHOUT_TODO = ("MR030", "MR031", "MR032", "MR033", "MR035", "MR907")  # nothing of them is followed
_STYLES = {Level.SAFE: "green", Level.UNSAFE: "yellow", Level.MANUAL: "red", Level.NOTE: "cyan"}


def explain(screen: Screen, rule: Rule) -> None:
    """One rule, in full."""
    from textwrap import wrap

    screen.line((f"{rule.code} {rule.title}", "bold"), hang=6)
    screen.line((_level(rule), _STYLES[rule.level]), hang=8)
    screen.line()
    columns = min(_COLUMNS, screen.width - 1) if screen.is_terminal else _COLUMNS
    for line in wrap(rule.explanation, columns, break_long_words=False, break_on_hyphens=False):
        screen.line(line)
    for heading, code in (("Before", rule.before), ("After", rule.after)):
        if code:
            screen.line()
            screen.line((heading, "bold"))
            for line in code.splitlines():
                screen.line(f"    {line}")
    screen.line()
    if rule.step:
        screen.line("Next step: ", rule.step, hang=11)
    screen.line(f"Source: {rule.source}")


def overview(screen: Screen, beginning: str = "") -> bool:
    """All rules whose codes begin so, one a line; whether there is one."""
    return _listed(screen, [rule for rule in RULES if rule.code.startswith(beginning)])


def search(screen: Screen, word: str) -> bool:
    """The rules that speak of ``word``, one of that name or alone in full; whether there is any."""
    wanted = word.strip().lower()
    if len(wanted) < _SHORTEST:
        return False
    found = [rule for rule in RULES if rule.title.lower() == wanted]
    found = found or [rule for rule in RULES if wanted in _story(rule)]
    if len(found) == 1:
        explain(screen, found[0])
        return True
    return _listed(screen, found)


_SHORTEST = 3  # letters of a word to look for


def _story(rule: Rule) -> str:
    return "\n".join((rule.title, rule.explanation, rule.before, rule.after, rule.step)).lower()


def _listed(screen: Screen, rules: Sequence[Rule]) -> bool:
    for digit, heading in SECTIONS.items():
        chosen = [rule for rule in rules if rule.code[2] == digit]
        if chosen:
            screen.line((heading, "bold"))
        for rule in chosen:
            screen.line(
                "  ", (rule.code, _STYLES[rule.level]), f"  {rule.level.value:6}  {rule.title}", hang=17
            )
    return bool(rules)


def page() -> str:
    """``docs/rules.md``."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    yield "# Rules\n"
    yield "Made from `migrate_responses/rulebook` by `python -m migrate_responses.show.docs_pages docs`;"
    yield "edit the rules, not this page.\n"
    yield "\n".join(f"- {text}" for text in LEVELS.values())
    for digit, heading in SECTIONS.items():
        yield f"\n## {digit}xx {heading}\n"
        yield "| code | level | rule |\n|---|---|---|"
        for rule in _section(digit):
            yield f"| [{rule.code}](#{rule.code.lower()}) | {rule.level.value} | {rule.title} |"
        for rule in _section(digit):
            yield from _entry(rule)


def _entry(rule: Rule) -> Iterator[str]:
    # The anchor of a heading is its whole text, so the code alone is the heading.
    yield f"\n### {rule.code}\n"
    yield f"**{rule.title}** ({_level(rule)})\n"
    yield rule.explanation
    for heading, code in (("Before", rule.before), ("After", rule.after)):
        if code:
            yield f"\n{heading}:\n\n```python\n{code}\n```"
    if rule.step:
        yield f"\nNext step: {rule.step}."
    source = f"<{rule.source}>" if rule.source.startswith("http") else rule.source
    yield f"\nSource: {source if ' ' in source or source.startswith('<') else f'`{source}`'}"


def _section(digit: str) -> list[Rule]:
    return [rule for rule in RULES if rule.code[2] == digit]


def _level(rule: Rule) -> str:
    if rule.code in _ERRORS:
        return "error: the file is left as it is, and the exit status is 2"
    if rule.code in _WITHOUT_TODO:
        return "manual: held back, without a TODO"
    return LEVELS[rule.level]
