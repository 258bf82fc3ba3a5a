"""How doubles are spelled: ``SimpleNamespace(content="x")``, and ``type("M", (), {"content": "x"})()``."""

from __future__ import annotations

import libcst as cst

from ..know import modules as syntax
from ..know.kinds import Class, External, Value
from .double_fields import lines_of, method_of
from .snippets import TIGHT, key_of, quote_of, string

Keywords = dict[str, cst.BaseExpression]
NAMESPACE = "types.SimpleNamespace"
_LONG = 96


def typed_dict(node: cst.CSTNode) -> cst.Dict | None:
    """The dict of ``type("M", (), {...})()``, or of ``type("M", (), {...})``, that names its fields."""
    made = node.func if isinstance(node, cst.Call) and not node.args else node
    match made:
        case cst.Call(
            func=cst.Name(value="type"),
            args=[
                cst.Arg(value=cst.SimpleString(), keyword=None, star=""),
                cst.Arg(value=cst.Tuple(elements=bases), keyword=None, star=""),
                cst.Arg(value=cst.Dict() as fields, keyword=None, star=""),
            ],
        ) if all(_is_object(base) for base in bases) and all(map(key_of, fields.elements)):
            return fields
        case _:
            return None


def _is_object(base: cst.BaseElement) -> bool:
    return isinstance(base.value, cst.Name) and base.value.value == "object"


def keywords_of(node: cst.CSTNode) -> Keywords:
    """The fields that a double is made with."""
    if not isinstance(node, cst.Call):
        return {}
    fields = typed_dict(node)
    if fields is not None:
        return {
            str(key_of(element)): element.value
            for element in fields.elements
            if isinstance(element, cst.DictElement)
        }
    return {arg.keyword.value: arg.value for arg in node.args if arg.keyword is not None}


def completions_of(node: cst.BaseExpression) -> cst.BaseExpression:
    """The ``X`` of ``SimpleNamespace(completions=X)`` and of ``type("Chat", (), {"completions": X})()``."""
    return keywords_of(node)["completions"]


def names_of(node: cst.Call) -> list[cst.CSTNode]:
    """Where the fields that a double is made with are named."""
    fields = typed_dict(node)
    if fields is None:
        return list(node.args)
    return [element.key for element in fields.elements if isinstance(element, cst.DictElement)]


def inside(node: cst.Call) -> list[cst.CSTNode]:
    """All nodes of what a double is made with."""
    fields = typed_dict(node)
    if fields is not None:
        return [fields, *(inner for element in fields.elements for inner in syntax.walk(element))]
    return [inner for arg in node.args for inner in syntax.walk(arg)]


def call_with(node: cst.Call, keywords: Keywords) -> cst.Call:
    """``node`` with other fields, on one line or one to a line as it was."""
    fields = typed_dict(node)
    if fields is not None:
        made = node.deep_replace(fields, _dict_with(fields, keywords))
        assert isinstance(made, cst.Call)
        return made
    first = node.args[0] if node.args else None
    space = node.whitespace_before_args
    broken = isinstance(space, cst.ParenthesizedWhitespace)
    comma = cst.Comma(whitespace_after=space if broken else cst.SimpleWhitespace(" "))
    args = [
        cst.Arg(value, keyword=cst.Name(name), equal=TIGHT, comma=comma) for name, value in keywords.items()
    ]
    if args and first is not None:
        last = node.args[-1]
        args[-1] = args[-1].with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    elif args:
        args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return node.with_changes(args=args)


def laid_out(node: cst.Call) -> cst.Call:
    """``node`` with one field a line, where one line would be long."""
    broken = isinstance(node.whitespace_before_args, cst.ParenthesizedWhitespace)
    if broken or typed_dict(node) is not None or len(cst.Module([]).code_for_node(node)) <= _LONG:
        return node
    inner, outer = (
        cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(" " * depth))
        for depth in (4, 0)
    )
    args = [arg.with_changes(comma=cst.Comma(whitespace_after=inner)) for arg in node.args]
    args[-1] = args[-1].with_changes(comma=cst.Comma(whitespace_after=outer))
    return node.with_changes(args=args, whitespace_before_args=inner)


def _dict_with(fields: cst.Dict, keywords: Keywords) -> cst.Dict:
    space = fields.lbrace.whitespace_after
    broken = isinstance(space, cst.ParenthesizedWhitespace)
    comma = cst.Comma(whitespace_after=space if broken else cst.SimpleWhitespace(" "))
    quote = quote_of(fields)
    elements = [cst.DictElement(string(name, quote), value, comma=comma) for name, value in keywords.items()]
    if elements:
        last = fields.elements[-1].comma if fields.elements else cst.MaybeSentinel.DEFAULT
        elements[-1] = elements[-1].with_changes(comma=last)
    return fields.with_changes(elements=elements)


def alike(maker: cst.Call, keywords: Keywords) -> cst.Call:
    """A double on one line, with ``keywords``, that is made as ``maker`` makes one."""
    fields = typed_dict(maker)
    if fields is not None:
        plain = fields.with_changes(elements=(), lbrace=cst.LeftCurlyBrace(), rbrace=cst.RightCurlyBrace())
        made = maker.deep_replace(fields, _dict_with(plain, keywords))
        assert isinstance(made, cst.Call)
        return made
    return call_with(cst.Call(maker.func), keywords)


def is_bag(value: Value) -> bool:
    """Whether a class of the tests holds what it is given, as a namespace does, and nothing else."""
    if not isinstance(value, Class):
        return False
    node = value.node
    if any(base.keyword is not None or base.star for base in node.bases) or len(node.bases) > 1:
        return False
    init = method_of(node, "__init__")
    rest = [item for item in node.body.body if item is not init and not _is_nothing(item)]
    if rest or node.decorators:
        return False
    if init is None:
        return bool(node.bases) and _named(node) in ("SimpleNamespace", NAMESPACE)
    return (not node.bases or _named(node) == "object") and _takes_all(init)


def _named(node: cst.ClassDef) -> str:
    return syntax.dotted(node.bases[0].value)


def _is_nothing(item: cst.CSTNode) -> bool:
    """``pass``, ``...`` or a docstring."""
    smalls = item.body if isinstance(item, (cst.SimpleStatementLine, cst.SimpleStatementSuite)) else None
    return smalls is not None and all(
        isinstance(small, cst.Pass)
        or (isinstance(small, cst.Expr) and isinstance(small.value, (cst.SimpleString, cst.Ellipsis)))
        for small in smalls
    )


def _takes_all(init: cst.FunctionDef) -> bool:
    """``def __init__(self, **kw): self.__dict__.update(kw)``."""
    params = init.params
    if (
        len(params.params) != 1
        or params.posonly_params
        or params.kwonly_params
        or isinstance(params.star_arg, cst.Param)
        or params.star_kwarg is None
        or init.decorators
    ):
        return False
    own, given = params.params[0].name.value, params.star_kwarg.name.value
    lines = [small for small in lines_of(init.body) if not _is_docstring(small)]
    loops = [item for item in init.body.body if isinstance(item, cst.BaseCompoundStatement)]
    match lines, loops:
        case [
            cst.Expr(
                value=cst.Call(
                    func=cst.Attribute(
                        value=cst.Attribute(value=cst.Name(value=held), attr=cst.Name(value="__dict__")),
                        attr=cst.Name(value="update"),
                    ),
                    args=[cst.Arg(value=cst.Name(value=taken))],
                )
            )
        ], []:
            return held == own and taken == given
        case [], [cst.For() as loop]:
            return _sets_each(loop, own, given)
        case _:
            return False


def _is_docstring(small: cst.BaseSmallStatement) -> bool:
    return isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString)


def _sets_each(loop: cst.For, own: str, given: str) -> bool:
    """``for name, value in kw.items(): setattr(self, name, value)``."""
    match loop:
        case cst.For(
            target=cst.Tuple(
                elements=[cst.Element(value=cst.Name(value=key)), cst.Element(value=cst.Name(value=value))]
            ),
            iter=cst.Call(
                func=cst.Attribute(value=cst.Name(value=taken), attr=cst.Name(value="items")), args=[]
            ),
            orelse=None,
        ):
            pass
        case _:
            return False
    match list(lines_of(loop.body)):
        case [
            cst.Expr(
                value=cst.Call(
                    func=cst.Name(value="setattr"),
                    args=[
                        cst.Arg(value=cst.Name(value=held)),
                        cst.Arg(value=cst.Name(value=first)),
                        cst.Arg(value=cst.Name(value=second)),
                    ],
                )
            )
        ]:
            return (taken, held, first, second) == (given, own, key, value)
        case _:
            return False


def type_name(node: cst.Call) -> cst.BaseExpression | None:
    """The ``type`` of a double for which there is a ``typed_dict``."""
    made = node.func if not node.args else node
    return made.func if isinstance(made, cst.Call) else None


def is_type(value: Value) -> bool:
    """Whether a value is the builtin ``type``."""
    return isinstance(value, External) and value.path == "builtins.type"
