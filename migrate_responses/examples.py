"""The examples at the end of each ``--help``: command lines, each with what it is for."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "": (
        ("diff", "show what would change below here"),
        ("diff src | git apply", "the same, as a patch"),
        ("apply src/ app.py", "write it"),
        ("apply -i", "write it, asked flow by flow"),
        ("check --allow-todo", "for CI"),
        ("explain MR112", "what a code means, with an example"),
        ("report --format json", "the inventory, for machines"),
        ("config src/app.py", "which options hold there, and why"),
    ),
    "diff": (
        ("diff", "everything below here"),
        ("diff src/app.py -v", "and each reason for holding back"),
        ("diff --unsafe-fixes", "with what may change behaviour"),
        ("diff --assume-responses dynamic", "servers have /responses"),
        ("diff src | git apply", "the diff is an exact patch"),
        ("diff - < app.py", "of a text by standard input"),
    ),
    "apply": (
        ("apply", "everything below here"),
        ("apply -i", "asked flow by flow"),
        ("apply src/ app.py", "these alone; the rest is read along"),
        ("apply --unsafe-fixes", "with what may change behaviour"),
        ("apply --select MR0,MR1,MR2,MR30", "only what these rules are enough for"),
        ("apply --exclude 'vendor/'", "all but some files"),
        ("apply - < old.py > new.py", "as a filter"),
    ),
    "check": (
        ("check", "fail while any call could or should be moved"),
        ("check --allow-todo src/", "accept calls that are held back for a reason"),
        ("check -q", "the list alone"),
    ),
    "report": (
        ("report", "a table of all calls"),
        ("report --format json --output calls.json", "for machines"),
        ("report --since main", "and what changed since a revision"),
        ("report --explain-flow src/app.py:42", "all that is known of one call"),
    ),
    "config": (
        ("config", "what holds here"),
        ("config tests/test_app.py", "what holds for one file"),
        ("config --unsafe-fixes src/", "with something on the command line"),
    ),
    "explain": (
        ("explain", "all rules, one a line"),
        ("explain MR112", "one rule; 112 will do"),
        ("explain MR1", "all rules that begin so"),
    ),
}


def examples(command: str) -> str:
    """The examples of ``command`` (of the program, if it is empty) as click shows them unwrapped."""
    rows = [(f"migrate-responses {words}", purpose) for words, purpose in EXAMPLES[command]]
    widest = max(len(words) for words, _ in rows)
    return "\n".join(["\b", "Examples:", *(f"  {words:{widest}}  {purpose}" for words, purpose in rows)])
