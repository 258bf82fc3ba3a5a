"""What a test asks of a request: the arguments of a recorded call have their new names (MR802).

``create.call_args.kwargs["messages"]`` becomes ``["input"]``; so do the keywords of
``assert_called_once_with``. A question that cannot be followed, or whose answer has another shape now,
holds the flow back (MR803).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import DictValue, SeqValue, Site, Unknown
from ..know.modules import Module, walk
from .context import Context, is_none
from .double_calls import Calls
from .double_edits import new_name, new_string
from .double_functions import Replacements
from .double_histories import Histories, has_parts, sends_calls, sends_items
from .double_kept import Kept
from .double_listed import listed
from .double_own import is_own_call
from .double_parts import Parts, has_answers_with_parts
from .double_positional import is_positional
from .double_recognised import OLD, TELLING, Recognised
from .double_reshaped import Reshaped
from .double_targets import RENAMED, RESHAPED, Targets, by_path
from .listing import append
from .parameter import UNCHANGED
from .snippets import key_of, keyword, quote_of, spells_none, string
from .tested import ASSERTS, at, key_asked


class Requests:
    """The questions of one test file."""

    def __init__(
        self,
        context: Context,
        module: Module,
        sites: list[Site],
        known: set[cst.CSTNode],
        replacements: Replacements,
        calls: Calls,
    ) -> None:
        self.context = context
        self.module = module
        self.known = known
        self.replacements = replacements
        self.targets = Targets(module, known, [m for m in context.project.modules if m is not module])
        self.reshaped = Reshaped(context, module)
        self.kept = Kept(context, module, replacements, self.targets, known)
        self.histories = Histories(module, calls)
        self.parts = Parts(context, module)
        self.recognised = Recognised(context, module, replacements, self.targets, self.kept)

    def plan(self) -> None:
        for whole in listed(self.module, self.targets):
            self._hold(whole, f"`{self._source(whole)}` is a whole request")
        for node in self.module.of(cst.Call, cst.Subscript, cst.Comparison, cst.Dict):
            match node:
                case cst.Dict():
                    self._copy(node)
                case cst.Call(
                    func=cst.Attribute(attr=cst.Name(value="assertIn" | "assertNotIn")),
                    args=[cst.Arg(value=cst.SimpleString() as key), asked, *_],
                ):
                    self._key(node, key, asked.value)
                case cst.Call(func=cst.Attribute(value=mock, attr=attr)) if attr.value in ASSERTS:
                    self._asserted(node, mock, attr.value)
                case cst.Call(args=[first, second, *_]) if _is_assert_equal(node):
                    self._whole(node, first.value, second.value)
                    self._whole(node, second.value, first.value)
                case cst.Call(func=cst.Attribute(value=owner)) | cst.Subscript(value=owner):
                    if key_asked(node) is not None:
                        self._key(node, _literal(node), owner)
                case cst.Comparison():
                    self._comparison(node)
                case _:
                    continue
        for whole in [*self.kept.unclear(), *by_path(self.module)]:
            self._hold(whole, f"`{self._source(whole)}` is a whole request")

    def _edit_key(self, key: cst.SimpleString, name: str) -> None:
        self.known.add(key)
        self.context.edit(key, self.module, self._at(key), lambda o, u: string(name, o), "MR802")

    def _hold(self, node: cst.CSTNode, detail: str) -> None:
        self.context.unsafe(node, self.module, self._at(node), "MR803", detail)

    def _has_items(self, node: cst.CSTNode) -> bool:
        return any(sends_items(self.context, site) for site in self._at(node))

    def _has_others(self, node: cst.CSTNode) -> bool:
        """Whether messages of the calls that a test is about get another form."""
        return self._has_items(node) or any(has_parts(self.context, site) for site in self._at(node))

    def _at(self, node: cst.CSTNode) -> list[Site]:
        """The calls that the test around ``node`` is about."""
        return at(self.context, self.module, node)

    # -- one argument --------------------------------------------------------------------

    def _comparison(self, node: cst.Comparison) -> None:
        """``"max_tokens" in kwargs``; or all of a request at once."""
        for target in node.comparisons:
            if isinstance(target.operator, (cst.In, cst.NotIn)):
                if isinstance(node.left, cst.SimpleString):
                    self._key(node, node.left, target.comparator)
            elif not _is_nothing(node.left) and not _is_nothing(target.comparator):
                self._whole(node, node.left, target.comparator)
                self._whole(node, target.comparator, node.left)

    def _whole(self, node: cst.CSTNode, request: cst.BaseExpression, other: cst.BaseExpression) -> None:
        """``create.call_args.kwargs == {...}``: the other side has the new names."""
        if not isinstance(request, (cst.Name, cst.Attribute, cst.Subscript)):
            return
        if self.replacements.are_requests(request) or self.kept.are_requests(request):
            if is_positional(self.module, request) and not _shows_message(other):
                return
            wholes = [e.value for e in other.elements] if isinstance(other, cst.List) else [other]
            if not all(list(map(self._expected, wholes))):
                self._hold(node, f"`{self._source(node)}` compares whole requests")
        elif (
            kept := self.replacements.is_request(request) or self.kept.is_request(request)
        ) or not self.recognised.is_keyed(request):
            recorded, is_api = self.targets.recorded(request)
            if not ((recorded and is_api is not False) or kept):
                if recorded and _shows_message(other) and self._has_others(node):
                    self._hold(node, f"`{self._source(node)}` compares messages, which are others now")
                return
            if is_api is None and recorded and _is_of_another(other):
                return
            if is_positional(self.module, request) and not _shows_message(other):
                return
            if not self._expected(other):
                self._hold(node, f"`{self._source(node)}` compares a whole request")

    def _copy(self, node: cst.Dict) -> None:
        """``{**kwargs, "messages": list(kwargs["messages"])}`` is a request with the new names."""
        starred = [e.value for e in node.elements if isinstance(e, cst.StarredDictElement)]
        if not any(map(self.replacements.is_request, starred)):
            return
        for element in node.elements:
            name = key_of(element)
            if isinstance(element, cst.DictElement) and name in RESHAPED:
                self._hold(element, f"`{self._source(node)}` is a whole request")
            elif isinstance(element, cst.DictElement) and name in RENAMED:
                assert isinstance(element.key, cst.SimpleString)
                self._edit_key(element.key, RENAMED[str(name)])

    def _expected(self, node: cst.BaseExpression) -> bool:
        """A display of all that a request has gets the new names; tells whether it is one."""
        if not isinstance(node, cst.Dict) or not all(map(key_of, node.elements)):
            return False
        names = [key_of(element) for element in node.elements]
        sites = self._passing(node, names)
        stored = {self._writes_store(site) for site in sites}
        given = [(e.key, str(key_of(e)), e.value) for e in node.elements if isinstance(e, cst.DictElement)]
        edits = self._new_names(given, sites, new_string)
        if len(stored) != 1 or edits is None or ("messages" in names and self._has_items(node)):
            return False
        for place, apply in edits:
            self.known.add(place)
            self.context.edit(place, self.module, self._at(node), apply, "MR802")
        if stored == {True}:
            self.context.edit(node, self.module, self._at(node), _with_stored, "MR802")
        return True

    def _key(self, node: cst.CSTNode, key: cst.CSTNode, owner: cst.BaseExpression) -> None:
        """An argument of a request by its name, if ``owner`` is one."""
        name = key.evaluated_value if isinstance(key, cst.SimpleString) else None
        if not isinstance(key, cst.SimpleString) or name not in OLD or self.recognised.is_keyed(owner):
            return
        is_request = self.recognised.is_request(owner, str(name))
        if is_request is False:
            return
        text = self._source(node)
        if is_request is None:
            self._hold(node, f"`{text}` may be asked of the old request")
        elif name in RESHAPED and self._is_as_ever(node, str(name)):
            self._edit_key(key, str(name))
        elif name in RESHAPED:
            edits = self.reshaped.asked(node, key, str(name), self._at(node))
            for place, apply in edits or ():
                self.known.add(place)
                self.context.edit(place, self.module, self._at(node), apply, "MR802")
            if edits is None:
                self._hold(node, f"`{text}` is asked of the old request")
        else:
            self._edit_key(key, RENAMED[str(name)])
            if name == "messages" and self._has_items(node):
                self._look(node)

    def _look(self, node: cst.CSTNode) -> None:
        """What is asked of messages among which there are others now."""
        edits = self._asked(node) if isinstance(node, cst.BaseExpression) else None
        if edits is None:
            self._hold(node, "the messages that the test looks at hold tool calls or parts")
        for place, apply in edits or ():
            self.known.add(place)
            self.context.edit(place, self.module, self._at(node), apply, "MR802")

    def _asked(self, node: cst.BaseExpression) -> list[tuple[cst.CSTNode, Apply]] | None:
        sites = self._at(node)
        if not any(has_parts(self.context, site) for site in sites):
            return self.histories.asked(node)
        if any(sends_calls(self.context, site) for site in sites) or has_answers_with_parts(
            self.context, sites
        ):
            return None
        return self.parts.asked(node)

    def _is_as_ever(self, node: cst.CSTNode, name: str) -> bool:
        """Whether ``"stop" not in request`` asks for what is there, or is not, as it was."""
        if key_asked(node) is not None or name == "store":
            return False
        for site in self._at(node):
            request = self.context.request(site)
            if request.untracked or (request.named(name) and not self._keeps(site, name)):
                return False
        return True

    def _keeps(self, site: Site, name: str) -> bool:
        """Whether an argument is always passed, and has its name still."""
        written = self.context.request(site).written(name)
        return (
            name in ("tools", "tool_choice")
            and bool(written)
            and not any(is_none(item.place.var) for item in written)
        )

    # -- all arguments -------------------------------------------------------------------

    def _asserted(self, node: cst.Call, mock: cst.BaseExpression, method: str) -> None:
        """``create.assert_called_once_with(model=..., messages=[...])``."""
        is_api = self.targets.is_api(mock)
        if is_api is False or (is_api is None and not self._names_old(node)):
            return
        if is_api is None and is_own_call(self.context, node, mock) and not self._has_items(node):
            return
        if self.targets.is_only_called_so(mock) and self._is_of_another(node):
            return
        names = [arg.keyword.value if arg.keyword is not None else None for arg in node.args]
        if not names and method.endswith("_with"):
            names = [None]
        sites = self._passing(node, names)
        given = [(arg.keyword, arg.keyword.value, arg.value) for arg in node.args if arg.keyword is not None]
        edits = self._new_names(given, sites, new_name)
        if is_api is None or method.endswith("calls") or None in names or not sites or edits is None:
            self._hold(node, f"`{method}` names the arguments of the old request")
            return
        for place, apply in edits:
            self.context.edit(place, self.module, self._at(node), apply, "MR802")
        if "messages" in names and self._has_items(node):
            self._hold(node, "the messages that the test looks at hold tool calls or parts")
        stored = {self._writes_store(site) for site in sites}
        if len(stored) > 1:
            self._hold(node, f"`{method}` names the arguments of the old request")
        elif stored == {True}:
            self.context.edit(node, self.module, self._at(node), _with_store, "MR802")

    def _new_names(
        self,
        given: Iterable[tuple[cst.BaseExpression, str, cst.BaseExpression]],
        sites: list[Site],
        named: Callable[[str], Apply],
    ) -> list[tuple[cst.CSTNode, Apply]] | None:
        """The edits of arguments that a test expects: of their names and values; None if one is not known."""
        edits: list[tuple[cst.CSTNode, Apply]] = []
        for place, name, value in given:
            form = self.reshaped.form(name, sites)
            if form is not None:
                expected = self.reshaped.expected(value, form, sites)
                if expected is None:
                    return None
                edits += [(place, named(form.name)), (value, expected)]
            elif name in RENAMED:
                edits.append((place, named(RENAMED[name])))
            elif name not in UNCHANGED and not (
                name == "tool_choice" and isinstance(value, cst.SimpleString)
            ):
                return None
        return edits

    def _is_of_another(self, node: cst.Call) -> bool:
        """Whether what a test expects of a mock cannot be what a call of the API passes."""
        names = [arg.keyword.value if arg.keyword is not None else None for arg in node.args]
        sites = self._at(node)
        if not names or None in names or OLD & set(names):
            return False
        if any(self.context.request(s).untracked or set(names) & self._names(s) for s in sites):
            return False
        return not any(self._may_be_sent(arg.value) for arg in node.args)

    def _may_be_sent(self, node: cst.BaseExpression) -> bool:
        """Whether a value can be a part of a request: a dict or a list, or what such a thing may be."""
        held = (DictValue, SeqValue, Unknown)
        values = self.context.project.values(node)
        return any(isinstance(inner, _DISPLAYS) for inner in walk(node)) or any(
            isinstance(value, held) for value in values
        )

    def _names_old(self, node: cst.Call) -> bool:
        return any(arg.keyword is not None and arg.keyword.value in TELLING for arg in node.args)

    def _passing(self, node: cst.CSTNode, names: list[str | None]) -> list[Site]:
        """The calls whose requests have just the arguments ``names``, or else those that may have."""
        known = [site for site in self._at(node) if not self.context.request(site).untracked]
        asked = set(names)
        just = [site for site in known if self._names(site) == asked]
        return just or [s for s in known if self._names(s, always=True) <= asked <= self._names(s)]

    def _names(self, site: Site, always: bool = False) -> set[str | None]:
        """The arguments of a request; of those in a dict, it may lack some."""
        items = self.context.request(site).keywords
        return {item.name for item in items if item.holder is None or not always}

    def _writes_store(self, site: Site) -> bool:
        """Whether the migration adds ``store=False`` to the request."""
        if self.context.settings.api_defaults != "preserve":
            return False
        return not any(not is_none(item.place.var) for item in self.context.request(site).named("store"))

    def _source(self, node: cst.CSTNode) -> str:
        return self.context.source(node, self.module)


def _is_of_another(node: cst.BaseExpression) -> bool:
    """Whether a dict cannot be a whole request, which has messages and a model."""
    if not isinstance(node, cst.Dict):
        return False
    names = [key_of(element) for element in node.elements]
    return None not in names and not {"messages", "model"} <= set(names)


def _shows_message(node: cst.BaseExpression) -> bool:
    """Whether a message or a part of one is written out: a function of the program may be handed some."""
    return any(key_of(inner) in _OF_MESSAGES for inner in walk(node) if isinstance(inner, cst.DictElement))


_DISPLAYS = (cst.List, cst.Dict, cst.Set, cst.Tuple, cst.BaseComp)
_OF_MESSAGES = frozenset({"role", "type", "tool_calls", "tool_call_id", "function"})


def _is_nothing(node: cst.BaseExpression) -> bool:
    """``args == ()``: what the API takes has names; ``call_args is None``."""
    return spells_none(node) or (isinstance(node, cst.Tuple) and not node.elements)


def _with_stored(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Dict)
    return append(updated, cst.DictElement(string("store", quote_of(updated)), cst.Name("False")))


def _with_store(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Call)
    return append(updated, keyword("store", cst.Name("False"), updated.args))


def _literal(node: cst.CSTNode) -> cst.CSTNode:
    """The key itself."""
    if isinstance(node, cst.Call):
        return node.args[0].value
    assert isinstance(node, cst.Subscript)
    index = node.slice[0].slice
    assert isinstance(index, cst.Index)
    return index.value


def _is_assert_equal(node: cst.Call) -> bool:
    return isinstance(node.func, cst.Attribute) and node.func.attr.value in (
        "assertListEqual",
        "assertSequenceEqual",
        "assertEqual",
        "assertDictEqual",
        "assertEquals",
    )
