"""What every rule is given: the facts, the plan to add to, and answers derived from both."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from ..config import Settings
from ..decide.escapes import Escapes
from ..decide.plan import Apply, Plan
from ..know.graph import Var
from ..know.kinds import Const, DictValue, Kind, Place, Resource, SeqValue, Shape, Site, Value
from ..know.modules import Module
from ..know.project import Project
from ..results import Level
from ..secrets import masked
from .filtered import Filtered
from .taken_out import held_back, taken_out


@dataclass(frozen=True, repr=False)
class Keyword:
    """One place where a request gets the argument ``name``: at the call, or in a dict passed by ``**``."""

    name: str
    place: Place
    holder: DictValue | None


# What the expressions are known to be, and by site the parts of answers among them.
_Parts = tuple[object, dict[Site, list[tuple[cst.CSTNode, Module, set[Kind]]]]]


class Context:
    """The rules' view of one run."""

    def __init__(self, project: Project, escapes: Escapes, plan: Plan) -> None:
        self.project = project
        self.escapes = escapes
        self.plan = plan
        self.settings: Settings = plan.settings
        self.done: set[tuple[Place, str, str]] = set()  # entries of shared dicts that have been seen to
        self._requests: dict[Site, Request] = {}
        self._filtered = Filtered(project)
        self.memo: dict[str, object] = {}  # facts that rules derive once
        self.paths: dict[cst.CSTNode, str | None] = {}  # of names and attributes; see type_spelling.path_of
        self.gone: set[cst.CSTNode] = set()  # code that a rule replaces as a whole
        self.notes: dict[str, object] = {}  # facts that several rules share, computed once
        self.functions: dict[DictValue, set[Site]] = {}  # those that become tools, and the calls they are for
        self.nested_tools: set[Value] = set()  # tools that stay as they are: their calls make flat ones
        self._sources: dict[cst.CSTNode, str] = {}
        self._parts: _Parts | None = None

    def request(self, site: Site) -> Request:
        """The arguments of ``site``."""
        found = self._requests.get(site)
        if found is None:
            found = self._requests[site] = Request(self.project, site, self._filtered)
        return found

    @cached_property
    def sites(self) -> list[Site]:
        """All sites, in order of path and position."""
        position = {module: number for number, module in enumerate(self.project.modules)}
        order = {
            node: number
            for module in {site.module for site in self.project.sites.values()}
            for number, node in enumerate(module.parents)
        }
        return sorted(
            self.project.sites.values(), key=lambda site: (position[site.module], order.get(site.node, 0))
        )

    @cached_property
    def shaped(self) -> list[tuple[cst.CSTNode, Module, list[Shape]]]:
        """Every expression that can be a part of an answer."""
        found = []
        for node, module, var in self._valued:
            shapes = [value for value in var.values if isinstance(value, Shape)]
            if shapes:
                found.append((node, module, shapes))
        return found

    @cached_property
    def _valued(self) -> list[tuple[cst.CSTNode, Module, Var]]:
        """Every expression of which something is known, in source order."""
        known = self.project.vars
        return [
            (node, module, known[node])
            for module in self.project.modules
            for node in module.parents
            if node in known
        ]

    def parts(self, site: Site) -> list[tuple[cst.CSTNode, Module, set[Kind]]]:
        """The expressions that can be a part of the answer of ``site``, and of which kinds."""
        if self._parts is None or self._parts[0] is not self.shaped:  # a rule has found that some never came
            found: dict[Site, list[tuple[cst.CSTNode, Module, set[Kind]]]] = {}
            for node, module, shapes in self.shaped:
                kinds: dict[Site, set[Kind]] = {}
                for shape in shapes:
                    kinds.setdefault(shape.site, set()).add(shape.kind)
                for owner, own in kinds.items():
                    found.setdefault(owner, []).append((node, module, own))
            self._parts = (self.shaped, found)
        return self._parts[1].get(site, [])

    def texts(self, site: Site) -> list[tuple[cst.CSTNode, Module]]:
        """The expressions that can be the text of the answer of ``site``."""
        return [(node, module) for node, module, kinds in self.parts(site) if Kind.CONTENT in kinds]

    @cached_property
    def _senders(self) -> dict[DictValue, list[Site]]:
        found: dict[DictValue, list[Site]] = {}
        for site in self.sites:
            request = self.request(site)
            for value in [*request.dicts, *request.values("extra_body")]:
                if isinstance(value, DictValue) and site not in found.setdefault(value, []):
                    found[value].append(site)
        return found

    def senders(self, value: DictValue) -> list[Site]:
        """The sites that get arguments from a dict, by ``**`` or as a body: its keys change for all."""
        return self._senders.get(value, [])

    @cached_property
    def _holders(self) -> dict[Value, list[tuple[cst.CSTNode, Module]]]:
        found: dict[Value, list[tuple[cst.CSTNode, Module]]] = {}
        for node, module, var in self._valued:
            for value in var.values:
                if isinstance(value, (SeqValue, DictValue)):
                    found.setdefault(value, []).append((node, module))
        return found

    def dicts(self) -> list[DictValue]:
        """The dicts that some expression can be."""
        return [value for value in self._holders if isinstance(value, DictValue)]

    def sequences(self) -> list[SeqValue]:
        """The lists and the like that some expression can be."""
        return [value for value in self._holders if isinstance(value, SeqValue)]

    @cached_property
    def steps(self) -> set[cst.CSTNode]:
        """The nodes on the way from clients to calls: ``client.chat``, ``.completions``, ``.create``."""
        found: set[cst.CSTNode] = set()
        for site in self.sites:
            for resource in site.resources:
                step: Resource | None = resource
                while step is not None:
                    found.add(step.node)
                    step = step.previous
        return found

    def module_of(self, node: cst.CSTNode) -> Module:
        """The module that ``node`` stands in."""
        return next(module for module in self.project.modules if node in module.parents)

    def is_gone(self, node: cst.CSTNode, module: Module) -> bool:
        """Whether ``node`` is in code that a rule replaces as a whole: nothing in it is left to judge."""
        return bool(self.gone) and (
            node in self.gone or any(parent in self.gone for parent in module.ancestors(node))
        )

    def holders(self, value: SeqValue | DictValue) -> list[tuple[cst.CSTNode, Module]]:
        """The expressions that can be ``value``."""
        return self._holders.get(value, [])

    # -- shorthands for rules -------------------------------------------------------------

    def edit(
        self,
        node: cst.CSTNode,
        module: Module,
        sites: Iterable[Site],
        apply: Apply,
        code: str,
        key: Hashable = None,
    ) -> None:
        self.plan.edit(node, module, sites, apply, code, key)

    def manual(
        self,
        node: cst.CSTNode,
        module: Module,
        sites: Iterable[Site],
        code: str,
        detail: str = "",
        step: str = "",
    ) -> None:
        self.plan.hold(node, module, sites, code, Level.MANUAL, detail, step)

    def unsafe(
        self,
        node: cst.CSTNode,
        module: Module,
        sites: Iterable[Site],
        code: str,
        detail: str = "",
        step: str = "",
    ) -> None:
        self.plan.hold(node, module, sites, code, Level.UNSAFE, detail, step)

    def note(
        self, node: cst.CSTNode, module: Module, sites: Iterable[Site], code: str, detail: str = ""
    ) -> None:
        self.plan.hold(node, module, sites, code, Level.NOTE, detail)

    def source(self, node: cst.CSTNode, module: Module, limit: int = 60) -> str:
        """``node`` as written, on one line and without keys, for a message."""
        text = self._sources.get(node)
        if text is None:
            above = getattr(node, "leading_lines", ())  # comments over a statement are not the statement
            shown = node.with_changes(leading_lines=()) if above else node
            text = masked(" ".join(module.tree.code_for_node(shown).split())).rstrip(",")
            self._sources[node] = text
        return text if len(text) <= limit else f"{text[: limit - 1]}…"


class Request:
    """The arguments of one site, through ``**`` dicts too."""

    def __init__(self, project: Project, site: Site, filtered: Filtered) -> None:
        self._project = project
        self._filtered = filtered
        self.site = site
        self.keywords: list[Keyword] = []
        self.dicts: list[DictValue] = []
        self.sources: list[DictValue] = []  # dicts of which some entries are passed, by other names maybe
        self._seen: set[tuple[DictValue, frozenset[str]]] = set()
        self._named: set[tuple[DictValue, str]] = set()
        self.untracked: list[tuple[cst.CSTNode, str]] = []  # `**x` or `*x` that cannot be followed
        for argument in site.invocation.arguments:
            if argument.keyword == "**":
                self._splat(argument.var, argument.node)
            elif argument.keyword == "*" and _passes_nothing(argument.var):
                continue
            elif argument.keyword in (None, "*"):
                self.untracked.append((argument.node, "a positional argument"))
            else:
                module = self.module_of(argument.node)
                place = Place("keyword", argument.node, module, argument.var)
                self.keywords.append(Keyword(str(argument.keyword), place, None))

    def module_of(self, node: cst.CSTNode) -> Module:
        """The module that a node of the request stands in."""
        if node in self.site.module.parents:
            return self.site.module
        return next((m for m in self._project.modules if node in m.parents), self.site.module)

    def _splat(self, var: Var, node: cst.CSTNode, without: frozenset[str] = frozenset()) -> None:
        """Take in the dicts of ``**var``, but for the entries ``without``, which go elsewhere."""
        if not var.values:
            self.untracked.append((node, "nothing is known of its value"))
        for value in var.values:
            if isinstance(value, DictValue):
                self._dict(value, node, without)
            elif not _has_nothing(value):
                self.untracked.append((node, "its value comes from elsewhere"))

    def _dict(self, value: DictValue, node: cst.CSTNode, without: frozenset[str]) -> None:
        if (value, without) in self._seen:
            return
        self._seen.add((value, without))
        if value not in self.dicts:
            self.dicts.append(value)
        kept = without | {name for name in value.places if taken_out(value, name)}
        entries = self._filtered.entries(value)
        stored = [self._filtered.stored(place) for place in value.others]
        self.sources += self._filtered.sources(value)
        for some in (entries, *stored):
            self.keywords.extend(
                Keyword(name, place, value) for name, place in (some or {}).items() if name not in kept
            )
        for name, places in value.places.items():
            if name not in kept and (value, name) not in self._named:
                self._named.add((value, name))
                self.keywords.extend(Keyword(name, place, value) for place in places)
        computed = [
            place
            for place, some in zip(value.others, stored, strict=True)
            if some is None and not self._is_chosen(place)
        ]
        if computed and not isinstance(value.node, cst.Param):
            self.untracked.append((computed[0].node, "a key is computed"))
        for merged in value.merged if entries is None else ():
            self._splat(merged, node, kept | held_back(value, merged))

    def _is_chosen(self, place: Place) -> bool:
        """Whether the key at ``place`` is one of several names that are all known."""
        key = key_node(place)
        return key is not None and bool(chosen_names(self._project.vars.get(key)))

    def named(self, *names: str) -> list[Keyword]:
        """The places that write one of the arguments ``names`` (or mention it)."""
        return [keyword for keyword in self.keywords if keyword.name in names]

    def of(self, holder: DictValue) -> list[Keyword]:
        """The arguments that come from the dict ``holder``."""
        return [keyword for keyword in self.keywords if keyword.holder is holder]

    def written(self, *names: str) -> list[Keyword]:
        """The places that give one of the arguments ``names`` a value."""
        return [item for item in self.named(*names) if item.place.how in WRITES]

    def values(self, *names: str) -> list[Value]:
        """The values that the arguments ``names`` can have."""
        found: dict[Value, None] = {}
        for item in self.written(*names):
            if item.place.var is not None:
                found.update(dict.fromkeys(item.place.var.values))
        return list(found)

    def passes(self, *names: str) -> bool:
        """Whether one of ``names`` can be passed, with something other than None."""
        return any(not is_none(item.place.var) for item in self.written(*names))

    @property
    def passes_tools(self) -> bool:
        return self.passes("tools", "functions")

    def sequences(self, name: str) -> Iterator[SeqValue]:
        """The lists that the argument ``name`` can be."""
        for value in self.values(name):
            if isinstance(value, SeqValue):
                yield value


def _has_nothing(value: Value) -> bool:
    """None, or the ``()`` of ``dict(params or ())``."""
    if isinstance(value, SeqValue):
        return not (value.element.values or value.derived or value.places)
    return isinstance(value, Const) and value.value is None


def _passes_nothing(var: Var) -> bool:
    """Whether ``*args`` only hands on what a function got: the API takes keywords alone, so it got none."""
    return bool(var.values) and all(
        isinstance(value, SeqValue)
        and value.type == "args"
        and not value.element.values
        and not any(item.values for item in value.items.values())
        for value in var.values
    )


WRITES = frozenset({"keyword", "literal", "store", "setdefault", "dumped"})


def key_node(place: Place) -> cst.CSTNode | None:
    """What names an entry: a string, or the Arg."""
    node = place.node
    match node:
        case cst.Arg():
            return node
        case cst.DictElement(key=key):
            return key
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            return key
        case cst.Call(args=[first, *_]):
            return first.value
        case cst.Comparison(left=left):
            return left
        case _:
            return None


def chosen_names(var: Var | None) -> list[str]:
    """The texts that ``var`` can be; none if it can be anything else."""
    names = constants(var) or []
    return [name for name in names if isinstance(name, str)] if all(isinstance(n, str) for n in names) else []


def is_none(var: Var | None) -> bool:
    """Whether a variable is known to be None and nothing else."""
    return (
        var is not None
        and bool(var.values)
        and all(isinstance(v, Const) and v.value is None for v in var.values)
    )


def constants(var: Var | None) -> list[object] | None:
    """The constants a variable can be, or None if it can be anything else."""
    if var is None or not var.values:
        return None
    found: list[object] = []
    for value in var.values:
        if not isinstance(value, Const):
            return None
        found.append(value.value)
    return found
