"""The head of the page: what there is, how far it can go, what to do next, and the filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from migrate_responses import __version__
from migrate_responses.config import Settings
from migrate_responses.results import SiteResult, Verdict
from migrate_responses.rules import rule
from migrate_responses.secrets import masked
from migrate_responses.show.formats import Report
from migrate_responses.show.html_tags import Html, joined, tag
from migrate_responses.show.summary import ASSUMPTIONS, in_tests, many
from migrate_responses.show.words import HELD, STATES

_MOST_FILES = 100  # to choose from; the others are a search away

NOBODY = "(nobody)"
"""Stands for the owner of files without one; no owner in a CODEOWNERS is spelled like that."""

OF_OPENAI = (Verdict.MIGRATED, *HELD)
_MEANINGS = {
    Verdict.MIGRATED: "apply does it",
    Verdict.UNSAFE: "--unsafe-fixes migrates it",
    Verdict.MANUAL: "a person has to decide",
    Verdict.LEFT: "not OpenAI alone",
    Verdict.SKIPPED: "as the project asks",
    Verdict.DOUBLE: "mocks and routes, no calls",
}


def title(report: Report) -> str:
    """What the page is called."""
    return f"{report.name}: Chat Completions to Responses" if report.name else "Chat Completions to Responses"


def head(report: Report, controls: Html) -> Html:
    """The name of the project, how much was looked at, and ``controls`` for the page."""
    outcome = report.outcome
    calls = [site for site in outcome.sites if site.verdict is not Verdict.DOUBLE]
    doubles = len(outcome.sites) - len(calls)
    files = len({site.path for site in calls})
    facts = (
        f"{many(len(calls), 'call')} in {many(files, 'file')}",
        f"{doubles:,} {in_tests(doubles)}" if doubles else "",
        f"{many(outcome.read, 'file')} read of {outcome.seen:,}",
        report.date,
        " ".join(_options(report.options.settings)),
        f"migrate-responses {__version__}",
    )
    return tag(
        "header",
        tag("p", "Chat Completions ", tag("span", "→", aria_hidden="true"), " Responses", class_="kicker"),
        tag("h1", report.name or "Report"),
        tag("ul", (tag("li", fact) for fact in facts if fact), class_="facts"),
        controls,
        class_="top",
    )


def _options(settings: Settings) -> Iterator[str]:
    """The options that decide what becomes of a call, as they would be typed."""
    if settings.unsafe_fixes:
        yield "--unsafe-fixes"
    if settings.api_defaults != Settings().api_defaults:
        yield f"--api-defaults {settings.api_defaults}"
    yield from (f"--assume-responses {masked(value)}" for value in sorted(settings.assume_responses))
    yield from (f"--assume-client {value}" for value in sorted(settings.assume_clients))
    for name, codes in (("select", settings.select), ("ignore", settings.ignore)):
        if codes:
            yield f"--{name} {','.join(sorted(codes))}"
    if settings.raise_on_failure:
        yield "--raise-on-failure"


def progress(report: Report, moved: int) -> Html:
    """How far it is: in words, as a bar, and by verdict. Each verdict leads to its calls.

    ``moved`` is the number of calls that are on Responses already.
    """
    counts = Counter(site.verdict for site in report.outcome.sites)
    openai = sum(counts[verdict] for verdict in OF_OPENAI)
    ready, held = counts[Verdict.MIGRATED], sum(counts[verdict] for verdict in HELD)
    parts = {"moved": moved} | {
        verdict.value: counts[verdict] for verdict in Verdict if verdict is not Verdict.DOUBLE
    }
    legend = [_moved(moved) if moved else None]
    legend += [_legend(verdict, counts[verdict]) for verdict in STATES if counts[verdict]]
    if openai:
        lead = joined(
            (
                tag("strong", f"{ready:,}", class_=None if ready else "none"),
                f" of {many(openai, 'call')} can be migrated now",
                f"; {held:,} {'is' if held == 1 else 'are'} held back" if held else "",
                f", {counts[Verdict.UNSAFE]:,} of them for an unsafe fix" if counts[Verdict.UNSAFE] else "",
            )
        )
    else:
        lead = joined([f"No Chat Completions calls to OpenAI in {many(report.outcome.seen, 'Python file')}."])
    words = [f"{moved} on Responses"] if moved else []
    words += [f"{counts[verdict]} {name}" for verdict, name in STATES.items() if counts[verdict]]
    return tag(
        "section",
        tag("p", lead, class_="lead"),
        bar(parts, class_="bar large", role="img", aria_label=", ".join(words)) if words else None,
        tag("ul", legend, class_="legend") if words else None,
        class_="progress",
        aria_label="Progress",
    )


def bar(parts: Mapping[str, int], full: int = 0, **attributes: str) -> Html:
    """A bar with a stretch for each of ``parts``. It is full with ``full`` calls, or with all there are."""
    total = full or sum(parts.values()) or 1
    at = 0.0
    stretches: list[Html] = []
    for name, count in parts.items():
        width = 1000 * count / total
        if width:
            stretches.append(tag("rect", x=f"{at:.1f}", width=f"{width:.1f}", height="10", class_=name))
        at += width
    shape = {"viewBox": "0 0 1000 10", "preserveAspectRatio": "none"}
    return tag("svg", stretches, **shape, **(attributes or {"class_": "bar", "aria_hidden": "true"}))


def steps(report: Report) -> Html | None:
    """What to type or to read next, the most effective first."""
    found = list(_steps(report))
    if not found:
        return None
    return tag(
        "section",
        tag("h2", "Next", id="next"),
        tag("ol", (tag("li", step) for step in found)),
        class_="next",
        aria_labelledby="next",
    )


def filters(report: Report) -> Html:
    """The verdicts, rules, owners and files to choose from, each with its calls."""
    outcome = report.outcome
    owners = report.owners
    facets = [
        _facet("verdict", "State", outcome.sites, lambda site: [site.verdict.value], _verdict_name),
        _facet(
            "rule", "Reason", outcome.sites, lambda site: [reason.code for reason in site.reasons], _rule_name
        ),
    ]
    if owners:
        facets.append(
            _facet("owner", "Owner", outcome.sites, lambda site: owners.get(site.path) or [NOBODY], _plain)
        )
    facets.append(_facet("file", "File", outcome.sites, lambda site: [site.path], _path))
    return joined(facets)


def _moved(count: int) -> Html:
    number = tag("b", f"{count:,}")
    inside = (number, " ", tag("span", "migrated", class_="name"), " ", tag("small", "on Responses already"))
    return tag("li", tag("span", inside, class_="moved"))


def _legend(verdict: Verdict, count: int) -> Html:
    name = tag("span", STATES[verdict], class_="name")
    inside = (tag("b", f"{count:,}"), " ", name, " ", tag("small", _MEANINGS[verdict]))
    return tag("li", tag("a", inside, href=f"#verdict={verdict.value}", class_=verdict.value))


def _steps(report: Report) -> Iterator[tuple[object, ...]]:
    sites = report.outcome.sites
    counts = Counter(site.verdict for site in sites)
    if ready := counts[Verdict.MIGRATED]:
        yield f"Migrate {many(ready, 'call')}: ", command("migrate-responses apply")
    elif report.outcome.changed:
        yield "Write the TODO comments: ", command("migrate-responses apply")
    unsafe = sum(site.verdict is Verdict.UNSAFE and site.flow > 0 for site in sites)
    if unsafe and not report.options.settings.unsafe_fixes:
        calls = many(unsafe, "call")
        yield f"Read what may change for {calls}, then: ", command("migrate-responses apply --unsafe-fixes")
    for code, word, where in ASSUMPTIONS:
        concerned = [{reason.code for reason in site.reasons} for site in sites]
        count, alone = sum(code in codes for codes in concerned), concerned.count({code})
        if count:
            calls = many(alone or count, "call")
            they = "it goes" if (alone or count) == 1 else "they go"
            free = "may be free to move" if alone else "may have one reason less"
            yield (
                tag("a", calls, href=f"#rule={code}") if alone in (0, count) else calls,
                f" {free}: {they} to an endpoint {where}. If it serves /responses: ",
                command(f"--assume-responses {word}"),
            )
    settled = [{code} for code, _, _ in ASSUMPTIONS]  # told of above
    held = [
        site
        for site in sites
        if site.verdict is Verdict.MANUAL and {reason.code for reason in site.reasons} not in settled
    ]
    if held:
        codes = Counter(site.reasons[0].code for site in held)
        more = f" and {len(codes) - _MOST_CODES} more" if len(codes) > _MOST_CODES else ""
        links = (
            (
                ", " if at else "",
                tag("a", rule(code).title, href=f"#rule={code}&verdict=manual"),
                f" ({count:,})",
            )
            for at, (code, count) in enumerate(codes.most_common(_MOST_CODES))
        )
        lead = f"What holds {'it' if len(held) == 1 else 'them'} back"
        yield f"Decide about {many(len(held), 'call')}. {lead}: ", links, f"{more}."
    if sum(counts[verdict] for verdict in OF_OPENAI):
        yield "Keep new ones out, in CI: ", command("migrate-responses check --allow-todo")


_MOST_CODES = 3


def command(words: str) -> Html:
    """Something to type."""
    return tag("code", words, class_="command")


def _facet(
    name: str,
    legend: str,
    sites: Iterable[SiteResult],
    values: Callable[[SiteResult], Iterable[str]],
    shown: Callable[[str], Html],
) -> Html | None:
    counts: dict[str, Counter[Verdict]] = {}
    for site in sites:
        for value in dict.fromkeys(values(site)):
            counts.setdefault(value, Counter())[site.verdict] += 1
    if not counts:
        return None
    ordered = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
    if name == "verdict":  # few, and always in the order of the bar above
        ordered = [(verdict.value, counts[verdict.value]) for verdict in Verdict if verdict.value in counts]
    most = max(count.total() for count in counts.values())
    if name == "file":
        ordered = ordered[:_MOST_FILES]
    choices = [
        tag(
            "label",
            tag("input", type="checkbox", name=name, value=value),
            tag("span", shown(value), class_="name", title=value if name in {"file", "owner"} else None),
            tag("span", count.total(), class_="count"),
            bar({verdict.value: count[verdict] for verdict in Verdict}, most),
        )
        for value, count in ordered
    ]
    return tag("fieldset", tag("legend", legend), tag("div", choices, class_="choices"), data_facet=name)


def _verdict_name(value: str) -> Html:
    return tag("span", STATES[Verdict(value)], class_=f"dot {value}")


def _rule_name(code: str) -> Html:
    return joined((tag("b", code), " ", rule(code).title))


def _plain(value: str) -> Html:
    return joined([value])


def _path(path: str) -> Html:
    folder, _, name = path.rpartition("/")
    return joined((tag("b", name), " ", tag("span", folder, class_="folder") if folder else None))
