"""What a run came to, for a person: what was found, what becomes of it and why, and what to type next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from migrate_responses.results import Diagnostic, FlowResult, Level, SiteResult, Verdict
from migrate_responses.session import Outcome
from migrate_responses.show.screen import Screen
from migrate_responses.show.words import HELD, STATES, argument, goes_with, partners, spots

ASSUMPTIONS = (
    ("MR021", "dynamic", "whose base URL is known only at run time"),
    ("MR023", "azure", "on Azure with an API version known only at run time"),
)
"""The reasons that one word on the command line can take away: code, word, what endpoints it is about."""

_STYLES = {Level.SAFE: "green", Level.UNSAFE: "yellow", Level.MANUAL: "red", Level.NOTE: "cyan"}
_MOST_ALIKE = 10
_MOST_NAMES = 3
_ASIDE = 34  # columns of a command; a longer one has its purpose on the next line


def finding(screen: Screen, diagnostic: Diagnostic, aside: str = "") -> None:
    """One diagnostic on one line: place, code, reason, next step."""
    message = diagnostic.message
    if diagnostic.next_step:
        message = f"{message.rstrip('.')}; {diagnostic.next_step}"
    where = ((diagnostic.place, "bold"), ": ") if diagnostic.path else ()
    screen.line(*where, (diagnostic.code, _STYLES[diagnostic.level]), f" {message}{aside}", hang=4)


def failures(screen: Screen, found: Iterable[Diagnostic]) -> None:
    """What went wrong, a line each; where one thing is wrong with many files, only the first are named."""
    alike: Counter[tuple[str, str]] = Counter()
    for error in found:
        alike[error.code, error.message] += 1
        if alike[error.code, error.message] <= _MOST_ALIKE:
            finding(screen, error)
    for (code, message), count in alike.items():
        if count > _MOST_ALIKE:
            screen.line(f"{many(count - _MOST_ALIKE, 'more file')}: ", (code, "red"), f" {message}", hang=4)


def sites(
    screen: Screen,
    found: Iterable[SiteResult],
    flows: Iterable[FlowResult],
    untold: Container[SiteResult] = (),
) -> None:
    """One line for each reason, and for each site without one.

    A reason that holds back several calls is told once, and the calls with the first of their reasons.
    ``untold`` are those whose TODO comments do not say so yet.
    """
    found = list(found)
    by_number = {flow.number: flow for flow in flows}
    behind: dict[Diagnostic, list[SiteResult]] = {}
    steps: dict[Diagnostic, str] = {}
    for site in found:
        for reason in site.reasons:
            said = replace(reason, next_step="")  # it can differ from call to call
            behind.setdefault(said, []).append(site)
            steps[said] = max(steps.get(said, ""), reason.next_step, key=len)
    last: list[SiteResult] = []
    for site in found:
        for reason in site.reasons:
            said = replace(reason, next_step="")
            held = behind.pop(said, None)
            if held is None:
                continue
            reason = replace(reason, next_step=steps[said])
            if reason.level is Level.UNSAFE and all(one.verdict is Verdict.MANUAL for one in held):
                reason = replace(reason, next_step="")  # --unsafe-fixes would not be enough
            aside = "" if held == last else _together(held, reason)
            if reason.code == "MR907":  # it is told where the call is, and names the place
                told = f"{reason.place} would have to change too, and was not named"
                first = held[0]
                reason = replace(reason, path=first.path, line=first.line, column=first.column, message=told)
                reason = replace(reason, cell=first.cell)
            if any(one in untold for one in held):
                aside += "; its TODO is missing or out of date, and `migrate-responses apply` mends it"
            finding(screen, reason, aside)
            last = held
        if site.reasons:
            continue
        state, more = ("can be migrated", "green"), f": {site.text}"
        if site.verdict is Verdict.DOUBLE:
            state, more = (STATES[site.verdict], "cyan"), f", {goes_with(site, by_number)}"
        screen.line((site.place, "bold"), ": ", state, more, hang=4)


def _together(held: Sequence[SiteResult], reason: Diagnostic) -> str:
    """Which calls a reason holds back, if they are several or in another file."""
    if len(held) > 1:
        return f" (holds back {len(held)} calls: {spots(held)})"
    elsewhere = held[0].verdict in HELD and held[0].path != reason.path and bool(reason.path)
    return f" (holds back {spots(held)})" if elsewhere else ""


def headings(result: Outcome) -> dict[str, str]:
    """A few words on what becomes of the calls in each file."""
    words = (
        (Verdict.MIGRATED, "ready"),
        (Verdict.UNSAFE, "held back"),
        (Verdict.MANUAL, "held back"),
        (Verdict.DOUBLE, "in a test"),
    )
    counts: dict[str, Counter[str]] = {}
    for site in result.sites:
        for verdict, word in words:
            if site.verdict is verdict:
                counts.setdefault(site.path, Counter())[word] += 1
    return {
        path: ", ".join(f"{count} {word}" for word, count in sorted(counter.items(), reverse=True))
        for path, counter in counts.items()
    }


def summary(screen: Screen, result: Outcome, *, done: bool) -> None:
    """How many sites were found, and what becomes of them. ``done`` tells whether it was written."""
    if not result.sites:
        _nothing(screen, result)
        return
    calls = [site for site in result.sites if site.verdict is not Verdict.DOUBLE]
    head = "No Chat Completions calls"
    if calls:
        files = len({site.path for site in calls})
        head = f"{many(len(calls), 'Chat Completions call')} in {many(files, 'file')}"
    screen.line((head, "bold"), f" ({_read(result)})", hang=2)
    groups = (
        ("migrated" if done else "ready to migrate", (Verdict.MIGRATED,), "green"),
        ("held back", HELD, "yellow"),
        ("left alone", (Verdict.LEFT,), "cyan"),
        ("skipped", (Verdict.SKIPPED,), "cyan"),
    )
    for label, verdicts, style in groups:
        _group(screen, label, [site for site in calls if site.verdict in verdicts], style)
        if Verdict.MIGRATED in verdicts:
            _accepted(screen, result, done)
    doubles = [site for site in result.sites if site.verdict is Verdict.DOUBLE]
    if doubles:
        _doubles(screen, doubles, result, {site.path for site in calls})
    _left_out(screen, result)
    _failed(screen, result)


def _left_out(screen: Screen, result: Outcome) -> None:
    """The files with calls that nobody is told of, as the options ask."""
    if result.excluded:
        one = len(result.excluded) == 1
        text = f"{len(result.excluded):4} {'file' if one else 'files'} left out"
        names = f"exclude: {_listed(result.excluded)}"
        told = f"by {names} (name{'s' if one else ''} Chat Completions)"
        screen.line("  ", (text, "cyan"), f" {told}", hang=7)


def _doubles(screen: Screen, doubles: Sequence[SiteResult], result: Outcome, told: Container[str]) -> None:
    """Mocks and routes; the calls they go with are named if none is in a file that is ``told``."""
    flows = {flow.number: flow for flow in result.flows}
    places = [place for site in doubles for place in partners(site, flows)]
    label = f"in {'a test' if len(doubles) == 1 else 'tests'}"
    note = ": mocks and routes, which go with their calls"
    if len(doubles) == 1:
        note = ": a mock or a route, which goes with its calls"
    if places and not any(place.path in told for place in places):
        note += f" in {_listed(place.path for place in places)}"
    screen.line("  ", (f"{len(doubles):4} {label}", "cyan"), note, hang=7)
    _codes(screen, doubles)


def _listed(paths: Iterable[str]) -> str:
    names = list(dict.fromkeys(paths))
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


def _nothing(screen: Screen, result: Outcome) -> None:
    read = result.asked - len({error.path for error in result.errors})
    if read > 0:
        screen.line(f"No Chat Completions calls in {many(read, 'file')}.", hang=0)
    elif not result.errors:
        screen.line("No Python files there.")
    _left_out(screen, result)
    _failed(screen, result)


def _failed(screen: Screen, result: Outcome) -> None:
    for what, refused in (("could not be processed", False), ("not to be overwritten", True)):
        errors = [error for error in result.errors if (error.code == "MR906") is refused]
        files = len({error.path for error in errors})
        if files:
            codes = dict.fromkeys(error.code for error in errors)
            text = f"{files:4} {'file' if files == 1 else 'files'} {what}"
            screen.line("  ", (text, "red"), f" ({', '.join(codes)}, see above)", hang=7)


def blamed(refused: Sequence[Diagnostic]) -> str:
    """The files that git could not give back, and what to do about them."""
    paths = list(dict.fromkeys(error.path for error in refused))
    steps = list(dict.fromkeys(error.next_step for error in refused))
    step = steps[0] if len(steps) == 1 else "see above"
    if step.startswith("add it to git") and len(paths) <= _MOST_NAMES:
        step = f"{shlex.join(['git', 'add', *map(argument, paths)])}, or use --allow-dirty"
    return f"{_listed(paths)} ({step})"


def _group(screen: Screen, label: str, group: Sequence[SiteResult], style: str) -> None:
    """The count of some verdicts, and of each code behind them."""
    if not group:
        return
    codes = Counter(code for site in group for code in {reason.code for reason in site.reasons})
    several = sum(codes.values()) > len(group)
    note = ", for these reasons (a call can have several):" if several else ""
    if len(group) == 1 and several:
        note = ", for these reasons:"
    screen.line("  ", (f"{len(group):4} {label}", style), note, hang=7)
    _codes(screen, group)


def _codes(screen: Screen, group: Sequence[SiteResult]) -> None:
    codes = Counter(code for site in group for code in {reason.code for reason in site.reasons})
    levels = {reason.code: reason.level for site in group for reason in site.reasons}
    for code, count in sorted(codes.items(), key=lambda item: (-item[1], item[0])):
        screen.line("       ", f"{count:4} ", (code, _STYLES[levels[code]]), f" {title(code)}", hang=18)


def _accepted(screen: Screen, result: Outcome, done: bool) -> None:
    """What ``--unsafe-fixes`` took: a person has to look at these places."""
    taken = [note for note in result.notes if note.level is Level.UNSAFE]
    if not taken:
        return
    codes = Counter(note.code for note in taken)
    said = ", ".join(f"{count} {code} {title(code)}" for code, count in sorted(codes.items()))
    when = "to look at now" if done else "to look at"
    where = "see above" if done else "-v"
    screen.line("       ", (f"{many(len(taken), 'place')} {when}", "yellow"), f" ({where}): {said}", hang=12)


def following(screen: Screen, commands: Sequence[tuple[str, str]]) -> None:
    """What to type next: commands, each with what it is for."""
    if not commands:
        return
    screen.line("Next:")
    narrow = screen.is_terminal and screen.width < _ASIDE + 40
    for command, purpose in commands:
        if len(command) <= _ASIDE and not narrow:
            screen.line("  ", (f"{command:{_ASIDE}}", "bold"), f"  {purpose}", hang=_ASIDE + 4)
        else:
            screen.line("  ", (command, "bold"), hang=4)
            screen.line("        ", purpose, hang=8)


def title(code: str) -> str:
    from migrate_responses.rules import rule  # all their texts: only where one is needed

    try:
        return rule(code).title
    except KeyError:
        return ""


def _read(result: Outcome) -> str:
    return f"parsed {many(result.read, 'file')} of {result.seen:,}"


def in_tests(count: int) -> str:
    """What is no call and is told of beside them: mocks, routes."""
    return "place in a test" if count == 1 else "places in tests"


def many(count: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
