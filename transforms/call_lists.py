"""Where tool calls are taken out of an answer: ``message.tool_calls`` and ``message.function_call``."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..know import modules as syntax
from ..know.kinds import Kind, Shape, Site
from ..know.modules import Module
from .context import Context
from .missing_calls import are_missed, is_missed
from .none_errors import Failure, is_heard_above
from .reading import Read, base_of, truth_tested
from .shared import Group, Locals, group, renamed, root_of
from .snippets import expr, parenthesized

_Part = cst.BaseExpression


class Lists:
    """All reads of lists of calls, grouped; :meth:`plan` rewrites them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._calls: list[tuple[Read, set[Site]]] = []
        self._single: list[tuple[Read, set[Site]]] = []

    def add(self, read: Read, sites: set[Site]) -> None:
        (self._calls if read.name == "tool_calls" else self._single).append((read, sites))

    def plan(self) -> None:
        local = Locals(self._context)
        for entry in group(self._context, self._calls):
            kind = item_test(self._context, entry.sites)
            local.share(entry, "tool_calls", lambda root, kind=kind: listed(cst.Name(root), kind))  # type: ignore[misc]
            for read in entry.reads:
                self._many(entry, read, kind)
        singles = group(self._context, self._single)
        self._context.notes["single calls"] = singles
        for entry in singles:
            local.share(entry, "function_call", lambda root: first(cst.Name(root), True))
            for read in entry.reads:
                self._one(entry, read)
        local.write("MR505")

    # -- message.tool_calls ----------------------------------------------------------------

    def _many(self, entry: Group, read: Read, kind: str) -> None:
        context, module, whole, name = self._context, read.module, read.whole, entry.name
        parent = module.parents.get(whole)
        match parent:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=target))]) if target == name:
                optional = none_is_seen(context, entry.sites)
                self._replace(entry, whole, module, lambda u: _optional(listed(base_of(u), kind), optional))
            case cst.BooleanOperation(operator=cst.Or(), left=left, right=right) if (
                left is whole and is_empty(right)
            ):
                self._defaulted(entry, parent, module, kind)
            case cst.Comparison(
                left=left,
                comparisons=[cst.ComparisonTarget(operator=operator, comparator=cst.Name(value="None"))],
            ) if left is whole:
                wanted = isinstance(operator, (cst.IsNot, cst.NotEqual))
                context.edit(
                    parent,
                    module,
                    entry.sites,
                    _none_test(name, kind, wanted, truth_tested(module, parent)),
                    "MR505",
                )
            case cst.CompFor() if (
                parent.iter is whole
                and name is None
                and isinstance(parent.target, cst.Name)
                and not is_missed(context, entry.sites, whole, module)
            ):
                context.edit(parent, module, entry.sites, _filtered(kind), "MR505")
            case cst.NamedExpr() if name is None and _walrus(whole) is not None:
                context.edit(parent, module, entry.sites, _named_after(kind), "MR505")
            case _ if truth_tested(module, whole):
                self._replace(entry, whole, module, lambda u: any_of(base_of(u), kind))
            case _:
                self._index_error(entry, read)
                seen = (
                    self._none_is_seen(parent, module, whole)
                    or (isinstance(parent, _CARRYING) and none_is_seen(context, entry.sites))
                    or is_missed(context, entry.sites, whole, module)
                )

                def value(updated: cst.CSTNode) -> cst.BaseExpression:
                    calls: cst.BaseExpression = (
                        cst.Name(name) if name is not None else listed(base_of(updated), kind)
                    )
                    optional = _optional(calls, seen)
                    bare = not seen or not isinstance(parent, (cst.BooleanOperation, cst.Subscript))
                    return optional if bare else parenthesized(optional)

                context.edit(whole, module, entry.sites, lambda o, u: _keeping(u, value(u)), "MR505")

    def _replace(
        self,
        entry: Group,
        node: cst.BaseExpression,
        module: Module,
        value: Callable[[cst.CSTNode], cst.BaseExpression],
    ) -> None:
        """``node`` becomes the local of the group, or ``value``."""
        name = entry.name
        stored = isinstance(module.parents.get(node), cst.Assign) and value is not None
        parent = module.parents.get(node)
        binds = isinstance(parent, cst.Assign) and any(
            isinstance(target.target, cst.Name) and target.target.value == name for target in parent.targets
        )

        def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            return _keeping(
                updated, cst.Name(name) if name is not None and not (stored and binds) else value(updated)
            )

        self._context.edit(node, module, entry.sites, apply, "MR505")

    def _defaulted(self, entry: Group, parent: cst.BooleanOperation, module: Module, kind: str) -> None:
        """``message.tool_calls or []``: the list is never None now."""
        outer = module.parents.get(parent)
        if (
            entry.name is None
            and isinstance(outer, cst.CompFor)
            and outer.iter is parent
            and isinstance(outer.target, cst.Name)
        ):
            self._context.edit(outer, module, entry.sites, _filtered(kind), "MR505")
            return

        def value(updated: cst.CSTNode) -> cst.BaseExpression:
            assert isinstance(updated, cst.BooleanOperation)
            return listed(base_of(updated.left), kind)

        self._replace(entry, parent, module, value)

    def _none_is_seen(self, parent: cst.CSTNode | None, module: Module, whole: cst.BaseExpression) -> bool:
        """Whether the list goes where somebody can tell None from an empty list."""
        if isinstance(parent, cst.FormattedStringExpression):
            return True
        if isinstance(parent, cst.BooleanOperation) and isinstance(parent.operator, cst.And):
            outer = module.parents.get(parent)
            chosen = isinstance(outer, cst.BooleanOperation) and isinstance(outer.operator, cst.Or)
            return parent.left is whole and not chosen and not truth_tested(module, parent)
        if not isinstance(parent, cst.Arg):
            return False
        return any(
            escape.node is parent.value
            for shape in self._context.project.shapes(parent.value)
            for escape in self._context.escapes.of(shape)
        )

    def _index_error(self, entry: Group, read: Read) -> None:
        """``message.tool_calls[0]`` of no list was a TypeError, and is an IndexError now."""
        module = read.module
        if not isinstance(module.parents.get(read.whole), cst.Subscript):
            return
        for parent in module.ancestors(read.whole):
            if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
                return
            if not isinstance(parent, cst.Try) or not any(
                node is parent.body for node in module.ancestors(read.whole)
            ):
                continue
            for handler in parent.handlers:
                caught = handler.type
                if isinstance(caught, cst.Name) and caught.value == "TypeError":
                    self._context.edit(
                        caught, module, entry.sites, lambda o, u: expr("(TypeError, IndexError)"), "MR505"
                    )
                elif (
                    isinstance(caught, cst.Tuple)
                    and _names(caught) >= {"TypeError"}
                    and "IndexError" not in _names(caught)
                ):
                    self._context.edit(caught, module, entry.sites, _with_index_error, "MR505")

    # -- message.function_call ---------------------------------------------------------------

    def _one(self, entry: Group, read: Read) -> None:
        module, whole, name = read.module, read.whole, entry.name
        parent = module.parents.get(whole)
        if name is None and truth_tested(module, whole):
            self._replace(entry, whole, module, lambda u: any_of(base_of(u), _FUNCTION))
        else:
            # Without a call, `.name` of None is the error that a handler may wait for.
            optional = not isinstance(parent, (cst.Attribute, cst.Subscript)) or is_heard_above(
                self._context, whole, module, _NO_CALL
            )
            self._replace(entry, whole, module, lambda u: first(base_of(u), optional))


_NO_CALL = Failure(frozenset({"AttributeError", "TypeError"}))

# Where a list goes on to others.
_CARRYING = (
    cst.Assign,
    cst.AnnAssign,
    cst.Return,
    cst.Element,
    cst.DictElement,
    cst.Arg,
    cst.IfExp,
    cst.Yield,
)


def none_is_seen(context: Context, sites: set[Site]) -> bool:
    """Whether a list of calls is shown where None would show, and nothing asked before if there is one."""
    for site in sites:
        for escape in context.escapes.of(Shape(Kind.TOOL_CALLS, site, "object")):
            node, module = escape.node, escape.module
            if read_of_calls(context, node) or not isinstance(node, cst.BaseExpression):
                continue  # looked at where it is read
            if not _is_asked_before(node, module):
                return True
    return are_missed(context, sites)


def read_of_calls(context: Context, node: cst.CSTNode) -> bool:
    """Whether ``node`` takes the list out of a message."""
    return isinstance(node, (cst.Attribute, cst.Subscript)) and any(
        shape.kind is Kind.MESSAGE for shape in context.project.shapes(node.value)
    )


def _is_asked_before(node: cst.BaseExpression, module: Module) -> bool:
    """Whether ``node`` stands under a test that names it, and still holds what was tested."""
    text = module.tree.code_for_node(node)
    child: cst.CSTNode = node
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.If, cst.IfExp)) and child is parent.body:
            tests = [inner for inner in syntax.walk(parent.test) if isinstance(inner, type(node))]
            again = {name for inner in syntax.walk(parent.body) for name in syntax.bound_by(inner)}
            if any(module.tree.code_for_node(inner) == text for inner in tests):
                return text not in again
        child = parent
    return False


def _optional(calls: cst.BaseExpression, seen: bool) -> cst.BaseExpression:
    """``calls``, or ``calls or None`` where no calls must look like None."""
    return expr("calls or None", calls=calls) if seen else calls


def single_call(context: Context, read: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """How ``message.function_call`` is written: the local that holds it, or the search for it."""
    groups = context.notes.get("single calls")
    assert isinstance(groups, list)
    for entry in groups:
        assert isinstance(entry, Group)
        if entry.name is not None and any(known.whole is read for known in entry.reads):
            return cst.Name(entry.name)
    base = read.value if isinstance(read, (cst.Attribute, cst.Subscript)) else read
    root = root_of(base)
    return first(renamed(context, root, module) if isinstance(root, cst.Name) else root, False)


_FUNCTION = '{item}.type == "function_call"'


def item_test(context: Context, sites: set[Site]) -> str:
    """The test on ``{item}`` that picks tool calls out of the output."""
    from .tool_calls import types_of

    types = types_of(context, sites)
    if len(types) == 1:
        return f'{{item}}.type == "{types[0]}"'
    return f"{{item}}.type in ({', '.join(f'{chr(34)}{name}{chr(34)}' for name in types)})"


def _walrus(node: cst.CSTNode) -> cst.NamedExpr | None:
    """The assignment expression at the root of a chain: comprehensions cannot iterate over it."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node if isinstance(node, cst.NamedExpr) else None


def _over(template: str, base: cst.BaseExpression, kind: str) -> cst.BaseExpression:
    """``template`` with ``r`` for the answer and ``{test}`` for the test of an item."""
    named = base if isinstance(base, cst.NamedExpr) else None
    target = named.target if named is not None else base
    item = "entry" if isinstance(target, cst.Name) and target.value == "item" else "item"
    text = template.replace("{test}", kind.format(item=item)).replace("{item}", item)
    if named is None:
        return expr(text, r=base)
    return expr(f"(bound and {text})", bound=named, r=cst.ensure_type(named.target, cst.Name))


def listed(base: cst.BaseExpression, kind: str) -> cst.BaseExpression:
    """``[item for item in r.output if item.type == "function_call"]``."""
    return _over("[{item} for {item} in r.output if {test}]", base, kind)


def any_of(base: cst.BaseExpression, kind: str) -> cst.BaseExpression:
    """``any(item.type == "function_call" for item in r.output)``."""
    return _over("any({test} for {item} in r.output)", base, kind)


def first(base: cst.BaseExpression, optional: bool) -> cst.BaseExpression:
    """``next((item for item in r.output if ...), None)``; without the default where one is certain."""
    found = "({item} for {item} in r.output if {test})"
    return _over(f"next({found}, None)" if optional else f"next{found}", base, _FUNCTION)


def is_empty(node: cst.BaseExpression) -> bool:
    """Whether ``node`` is an empty list or tuple."""
    return isinstance(node, (cst.List, cst.Tuple)) and not node.elements


def _keeping(updated: cst.CSTNode, result: cst.BaseExpression) -> cst.BaseExpression:
    """``result`` in the parentheses that ``updated`` had, where they still matter."""
    outer = getattr(updated, "lpar", ())
    if outer and not result.lpar and isinstance(result, (cst.BooleanOperation, cst.UnaryOperation)):
        return result.with_changes(lpar=updated.lpar, rpar=updated.rpar)  # type: ignore[attr-defined]
    return result


def _none_test(
    name: str | None, kind: str, wanted: bool, bare: bool
) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    from .tool_calls import truth_of

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Comparison)
        if name is None:
            return truth_of(any_of(base_of(updated.left), kind), wanted, True, updated)
        return truth_of(cst.Name(name), wanted, bare, updated)

    return apply


def _filtered(kind: str) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """``for call in message.tool_calls or []`` of a comprehension: ``for call in r.output if ...``."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.CompFor)
        assert isinstance(updated.target, cst.Name)
        read = updated.iter.left if isinstance(updated.iter, cst.BooleanOperation) else updated.iter
        test = cst.parse_expression(kind.format(item=updated.target.value))
        output = expr("r.output", r=base_of(read))
        before = updated.ifs[0].whitespace_before if updated.ifs else updated.whitespace_before
        return updated.with_changes(
            iter=output, ifs=[cst.CompIf(test, whitespace_before=before), *updated.ifs]
        )

    return apply


def _named_after(kind: str) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """``calls := (message := ask()).tool_calls``: the answer is bound first."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.NamedExpr)
        base = base_of(updated.value)
        assert isinstance(base, cst.NamedExpr)
        assert isinstance(base.target, cst.Name)
        calls = updated.with_changes(
            value=listed(base.target, kind), lpar=[cst.LeftParen()], rpar=[cst.RightParen()]
        )
        result = cst.BooleanOperation(base, cst.And(), calls)
        return result.with_changes(lpar=updated.lpar, rpar=updated.rpar)

    return apply


def _names(node: cst.Tuple) -> set[str]:
    return {element.value.value for element in node.elements if isinstance(element.value, cst.Name)}


def _with_index_error(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Tuple)
    last = updated.elements[-1].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return updated.with_changes(elements=[*updated.elements[:-1], last, cst.Element(cst.Name("IndexError"))])
