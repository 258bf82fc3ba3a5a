"""What the TODO comment above a call that stays says. How comments are written: ``transforms/todo.py``."""

from __future__ import annotations

from .decide.flows import Flow
from .decide.plan import Reason
from .know.kinds import Site
from .know.modules import Module
from .places import next_step, sentence
from .results import Level
from .traces import scope_of
from .visible import visible


def comment(flow: Flow, site: Site, module: Module, encoding: str) -> str:
    """The line in ``module`` about a site that stays; no line numbers: TODOs above change them."""
    # What only this run could not reach (MR907) is no part of a comment that outlives it.
    reasons = [reason for reason in flow.causes if reason.code != "MR907"]
    own = [reason for reason in reasons if site in flow.owners.get(reason, (site,))]
    candidates = [reason for reason in own or reasons if reason.level is (own or reasons)[0].level]
    first = next((reason for reason in candidates if _within(reason, site)), candidates[0])
    text, about = f"{first.code} {sentence(first)}", site
    if not own:
        about = next(other for other in flow.sites if other in flow.owners[first])
        text = f"{first.code} goes together with {_call(about, site, module)}, which stays: {sentence(first)}"
    where = _where(first, about, module)
    text = f"{text} (in {where})" if where else text
    step = next_step(first, not any(reason.level is Level.MANUAL for reason in reasons))
    text = f"{text}; {step}" if step else text
    others = list(dict.fromkeys(reason.code for reason in own if reason.code != first.code))
    if others:
        text = f"{text}; also {', '.join(others)}"
    return visible(f"{text}.".replace("\n", " ")).encode(encoding, "backslashreplace").decode(encoding)


def _where(reason: Reason, about: Site, module: Module) -> str:
    """Where to look for what ``reason`` speaks of, if that is not near ``about``; read in ``module``."""
    around = scope_of(reason.node, reason.module)
    if reason.module not in (module, about.module):
        return f"{reason.module.path}{f', {around}' if around else ''}"
    if reason.module is not about.module or around not in ("", scope_of(about.node, about.module)):
        return around or reason.module.path
    if module.is_notebook and module.cell(reason.node) != module.cell(about.node):
        return "another cell"
    return ""


def is_out_of_reach(flow: Flow, unsafe_fixes: bool) -> bool:
    """Whether only the paths that were named hold the flow back, which is no matter for a comment."""
    accepted = (Level.NOTE, Level.UNSAFE) if unsafe_fixes else (Level.NOTE,)
    return all(reason.code == "MR907" for reason in flow.reasons if reason.level not in accepted)


def _call(other: Site, site: Site, module: Module) -> str:
    """``other`` by the name of the function around it, for who reads of it at ``site``."""
    around = scope_of(other.node, other.module)
    if other.module is not module:
        return f"the call in {f'`{around}` of ' if around else ''}{other.module.path}"
    if around == scope_of(site.node, site.module):
        return "another call here"
    return f"the call in `{around}`" if around else "the call outside of functions"


def _within(reason: Reason, site: Site) -> bool:
    """Whether the reason stands in the statement of the site, where its TODO will be read."""
    if reason.module is not site.module:
        return False
    if reason.node is site.node or reason.node not in site.module.parents:
        return True
    return site.module.statement(reason.node) is site.module.statement(site.node)
