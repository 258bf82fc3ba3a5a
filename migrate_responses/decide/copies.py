"""Copies of dicts that are sent: what they were made from says what is in them.

An entry of a dict is a variable that is made when somebody asks for it. Nobody in the program need ever ask
for the role of ``{**message}``, but the rules do.
"""

from __future__ import annotations

from ..know.kinds import DictValue
from ..know.project import Project
from .contents import reachable


def complete(project: Project) -> None:
    """Give the copies among what the sites send the entries of the dicts that were poured into them."""
    sent = [argument.var for site in project.sites.values() for argument in site.invocation.arguments]
    done: set[DictValue] = set()
    while copies := [
        value
        for value in reachable(*sent)
        if isinstance(value, DictValue) and value.poured and value not in done
    ]:
        for copy in copies:
            done.add(copy)
            for source in sources_of(copy):
                for key in (*source.fields, *source.places):
                    project.field(copy, key)
        project.solver.run()


def sources_of(copy: DictValue) -> list[DictValue]:
    """The dicts that were poured into ``copy``, and into these."""
    found: dict[DictValue, None] = {}
    stack = list(copy.poured)
    while stack:
        source = stack.pop()
        if source not in found and source is not copy:
            found[source] = None
            stack.extend(source.poured)
    return list(found)
