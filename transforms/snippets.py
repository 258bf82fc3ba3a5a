"""Small pieces of syntax, and containers that stay tidy when an item leaves or joins them."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

_SIMPLE = (
    cst.Name,
    cst.Attribute,
    cst.Subscript,
    cst.Call,
    cst.SimpleString,
    cst.List,
    cst.Dict,
    cst.Integer,
)


def expr(template: str, **parts: cst.BaseExpression) -> cst.BaseExpression:
    """The expression ``template`` with each name of ``parts`` replaced by that expression.

    ``expr("int(r.created_at)", r=base)``. Parts that need parentheses must bring them.
    """
    tree = cst.parse_expression(template)
    replaced = tree.visit(_Fill(parts)) if parts else tree
    assert isinstance(replaced, cst.BaseExpression)
    return replaced


def fill(node: cst.BaseExpression, parts: dict[str, cst.BaseExpression]) -> cst.BaseExpression:
    """``node`` with each name of ``parts`` replaced by that expression."""
    filled = node.visit(_Fill(parts))
    assert isinstance(filled, cst.BaseExpression)
    return filled


class _Fill(cst.CSTTransformer):
    def __init__(self, parts: dict[str, cst.BaseExpression]) -> None:
        super().__init__()
        self._parts = parts

    def visit_Attribute_attr(self, node: cst.Attribute) -> None:
        return None

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self._parts.get(original_node.value, updated_node)


def attribute(base: cst.BaseExpression, name: str) -> cst.Attribute:
    """``base.name``."""
    return cst.Attribute(atom(base), cst.Name(name))


def atom(node: cst.BaseExpression) -> cst.BaseExpression:
    """``node``, in parentheses if it could not stand before a dot as it is."""
    if isinstance(node, (*_SIMPLE, cst.BaseString, cst.BaseComp)) or node.lpar:
        return node
    return parenthesized(node)


def parenthesized(node: cst.BaseExpression) -> cst.BaseExpression:
    """``(node)``."""
    return node if node.lpar else node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


_LONG = 80  # columns
_VERY_LONG = 110


def in_lines(node: cst.IfExp, indent: str, within: str = "") -> cst.IfExp:
    """A chain of conditionals in parentheses, one case a line; ``within`` indents the line that it is on."""
    line = cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(within + indent))
    end = cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(within))

    def cases(node: cst.BaseExpression) -> cst.BaseExpression:
        if not isinstance(node, cst.IfExp):
            return node
        test = node.test
        if isinstance(test, cst.BooleanOperation) and len(cst.Module([]).code_for_node(test)) > _LONG:
            test = test.with_changes(operator=test.operator.with_changes(whitespace_before=line))
        return node.with_changes(
            whitespace_before_if=line, whitespace_before_else=line, test=test, orelse=cases(node.orelse)
        )

    made = cases(node)
    assert isinstance(made, cst.IfExp)
    return made.with_changes(lpar=[cst.LeftParen(line)], rpar=[cst.RightParen(end)])


def terms_in_lines(node: cst.BaseExpression, indent: str, room: int = _VERY_LONG) -> cst.BaseExpression:
    """A long chain of ``and``, or of ``or``, one term a line in parentheses; what fits ``room`` as it is."""
    line = cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(indent))
    end = cst.ParenthesizedWhitespace(indent=True)

    def terms(node: cst.BaseExpression) -> cst.BaseExpression:
        if not isinstance(node, cst.BooleanOperation) or type(node.operator) is not kind or node.lpar:
            return node
        operator = node.operator.with_changes(whitespace_before=line)
        return node.with_changes(left=terms(node.left), operator=operator, right=terms(node.right))

    kind = type(node.operator) if isinstance(node, cst.BooleanOperation) else None
    made = terms(node)
    if made is node or len(cst.Module([]).code_for_node(node)) <= room:
        return node
    return made.with_changes(lpar=[cst.LeftParen(line)], rpar=[cst.RightParen(end)])


def spells_none(node: cst.CSTNode | None) -> bool:
    """Whether ``None`` is written there."""
    return isinstance(node, cst.Name) and node.value == "None"


def is_omitted(node: cst.BaseExpression) -> bool:
    """Whether ``node`` says that an argument is not given: ``NOT_GIVEN``, ``openai.omit``, ``NotGiven()``."""
    if isinstance(node, cst.Call):
        return isinstance(node.func, cst.Name) and node.func.value in ("NotGiven", "Omit")
    name = node.attr if isinstance(node, cst.Attribute) else node
    return isinstance(name, cst.Name) and name.value in ("NOT_GIVEN", "omit")


def operand(node: cst.BaseExpression) -> cst.BaseExpression:
    """``node``, in parentheses if it could bind differently beside an operator."""
    loose = (cst.BooleanOperation, cst.Comparison, cst.UnaryOperation, cst.IfExp, cst.Lambda, cst.NamedExpr)
    return parenthesized(node) if isinstance(node, (*loose, cst.BinaryOperation, cst.Yield)) else node


def string(value: str, like: cst.CSTNode | None = None) -> cst.SimpleString:
    """A string literal with the quotes of ``like`` (double quotes without it)."""
    quote = '"'
    if isinstance(like, cst.SimpleString) and like.quote in ("'", '"'):
        quote = like.quote
    escaped = value.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return cst.SimpleString(f"{quote}{escaped}{quote}")


def quote_of(node: cst.CSTNode | None) -> cst.CSTNode | None:
    """A string key of a dict, to take its quotes from."""
    if isinstance(node, cst.Dict):
        for element in node.elements:
            if isinstance(element, cst.DictElement) and isinstance(element.key, cst.SimpleString):
                return element.key
    return node


def is_simple(node: cst.BaseExpression) -> bool:
    """Whether ``node`` can be repeated: a name or a chain of attributes of one."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def key_of(element: cst.CSTNode) -> str | None:
    """The constant string key of a dict element."""
    if isinstance(element, cst.DictElement) and isinstance(
        element.key, (cst.SimpleString, cst.ConcatenatedString)
    ):
        value = element.key.evaluated_value
        return value if isinstance(value, str) else None
    return None


def literals_of(node: cst.BaseExpression) -> list[cst.SimpleString]:
    """The string that ``node`` is, or those of a display of nothing else."""
    if isinstance(node, cst.SimpleString):
        return [node]
    if isinstance(node, (cst.Tuple, cst.List, cst.Set)):
        found = [element.value for element in node.elements]
        strings = [item for item in found if isinstance(item, cst.SimpleString)]
        return strings if len(strings) == len(found) else []
    return []


def key_text(node: cst.SimpleString) -> str:
    """What a literal key says; "" for bytes."""
    value = node.evaluated_value
    return value if isinstance(value, str) else ""


def entry(node: cst.Dict, key: str) -> cst.DictElement | None:
    """The element of a dict display under ``key``."""
    for element in node.elements:
        if key_of(element) == key:
            assert isinstance(element, cst.DictElement)
            return element
    return None


def keyword(name: str, value: cst.BaseExpression, args: Sequence[cst.Arg]) -> cst.Arg:
    """The argument ``name=value``, or ``name = value`` if all ``args`` by keyword are written so."""
    spaced = [arg.equal for arg in args if isinstance(arg.equal, cst.AssignEqual)]
    tight = not spaced or any(
        equal.whitespace_before.empty or equal.whitespace_after.empty for equal in spaced
    )
    return cst.Arg(value, keyword=cst.Name(name), equal=TIGHT if tight else spaced[-1])


TIGHT = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
