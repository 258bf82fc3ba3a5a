"""Doubles that are dicts of an answer's fields: ``ChatCompletion.model_validate({...})`` (MR802)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ..know.kinds import External
from . import double_finish
from .double_edits import FINISH, REASON, USAGE, Edit, is_empty, new_name, only
from .snippets import entry, expr, key_of

if TYPE_CHECKING:
    from .double_shapes import Shapes

_RESPONSE = frozenset(
    {"choices", "usage", "id", "model", "created", "object", "service_tier", "system_fingerprint"}
)
_CHOICE = frozenset({"message", "index", "finish_reason", "logprobs"})
_MESSAGE = frozenset({"content", "role", "tool_calls", "refusal", "function_call", "annotations", "audio"})
_TOKENS = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})


def validated(shapes: Shapes, node: cst.Call) -> bool:
    """``ChatCompletion.model_validate({...})`` and ``ChatCompletion(**{...})``; whether that is ``node``."""
    made = _validator(shapes, node)
    given = _display(shapes, node.args[0].value) if made is not None else None
    if made is None or given is None or not is_answer(given):
        return False
    finish, calls = ending_of(given)
    if finish is not None and shapes.reads_finish and not double_finish.agree(shapes, finish, calls):
        return False
    shapes.edit(made, new_name("Response"))
    shapes.known.add(node)
    shapes.needs(("Response",), node)
    if given not in shapes.known:
        shapes.known.update(parts_of(given))
        shapes.edit(given, answer(shapes.may_be_none(content_of(given))))
    return True


def _validator(shapes: Shapes, node: cst.CSTNode | None) -> cst.Name | None:
    """The name of ``ChatCompletion`` in a call that makes one of a dict."""
    if not isinstance(node, cst.Call) or len(node.args) != 1 or node.args[0].star not in ("", "**"):
        return None
    made = node.func.value if isinstance(node.func, cst.Attribute) else node.func
    is_model = any(
        isinstance(value, External) and value.path.endswith(".ChatCompletion")
        for value in shapes.context.project.values(made)
    )
    return made if is_model and isinstance(made, cst.Name) else None


def _display(shapes: Shapes, given: cst.BaseExpression) -> cst.Dict | None:
    """The dict that is given, which may be a constant of this file if nothing else is done with it."""
    if isinstance(given, cst.Dict):
        return given
    if not isinstance(given, cst.Name):
        return None
    module, found = shapes.module, None
    for name in module.of(cst.Name):
        if name.value != given.value:
            continue
        match parent := module.parents.get(name):
            case cst.AssignTarget(target=target) if target is name:
                assign = module.parents[parent]
                line = module.parents[assign]
                if found is not None or module.parents.get(line) is not module.tree:
                    return None
                found = assign.value if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None
            case cst.Attribute(attr=attr) if attr is name:
                continue
            case cst.Arg(value=value) if value is name and _validator(shapes, module.parents.get(parent)):
                continue
            case _:
                return None
    if any(other is not module and given.value in other.text for other in shapes.context.project.modules):
        return None
    return found if isinstance(found, cst.Dict) else None


def is_answer(node: cst.BaseExpression) -> bool:
    """Whether a dict display is an answer of the old API of which every field is understood."""
    if not isinstance(node, cst.Dict) or not _keys(node) <= _RESPONSE:
        return False
    choice = only(_value(node, "choices") or node)
    message = _value(choice, "message")
    if choice is None or message is None or not _keys(choice) <= _CHOICE or not _keys(message) <= _MESSAGE:
        return False
    empty = [_value(message, name) for name in ("refusal", "function_call", "annotations", "audio")]
    finish = _value(choice, "finish_reason")
    counted = _value(node, "usage")
    return (
        all(value is None or is_empty(value) for value in empty)
        and (finish is None or (isinstance(finish, cst.SimpleString) and finish.evaluated_value in FINISH))
        and (counted is None or (isinstance(counted, cst.Dict) and _keys(counted) <= _TOKENS))
        and _are_calls(_value(message, "tool_calls"))
    )


def _are_calls(node: cst.BaseExpression | None) -> bool:
    if node is None or is_empty(node):
        return True
    return isinstance(node, cst.List) and all(
        {"id", "function"} <= _keys(element.value) <= {"id", "function", "type"}
        and _keys(_value(element.value, "function")) == {"name", "arguments"}
        for element in node.elements
    )


def content_of(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The text in a dict that ``is_answer``."""
    return _value(_value(only(_value(node, "choices") or node), "message"), "content")


def ending_of(node: cst.BaseExpression) -> tuple[cst.BaseExpression | None, cst.BaseExpression | None]:
    """The finish reason, and the calls, in a dict that ``is_answer``."""
    choice = only(_value(node, "choices") or node)
    return _value(choice, "finish_reason"), _value(_value(choice, "message"), "tool_calls")


def parts_of(node: cst.BaseExpression) -> list[cst.CSTNode]:
    """The entries of such a dict that are fields of the old API."""
    return [element for inner in _dicts(node) for element in inner.elements]


def _dicts(node: cst.CSTNode) -> list[cst.Dict]:
    found = [node] if isinstance(node, cst.Dict) else []
    for child in node.children:
        found.extend(_dicts(child))
    return found


def _keys(node: cst.BaseExpression | None) -> set[str]:
    """The keys of a dict display; one that no answer has, where they are not to be seen."""
    if not isinstance(node, cst.Dict):
        return {"?"}
    return {key_of(element) or "?" for element in node.elements}


def _value(node: cst.BaseExpression | None, key: str) -> cst.BaseExpression | None:
    found = entry(node, key) if isinstance(node, cst.Dict) else None
    return found.value if found is not None else None


def answer(may_be_none: bool) -> Edit:
    """A dict with the fields of a ``Response`` instead of those of a ``ChatCompletion``."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Dict)
        step = _step(updated)
        choice = only(_value(updated, "choices") or updated)
        message = _value(choice, "message")
        fields: list[tuple[str, str]] = [
            ("id", "id_" if _value(updated, "id") else '"resp_1"'),
            ("object", '"response"'),
            ("created_at", "created_" if _value(updated, "created") else "0"),
            ("model", "model_" if _value(updated, "model") else '"gpt-4o-mini"'),
        ]
        parts = {
            f"{name}_": value
            for name in ("id", "created", "model")
            if (value := _value(updated, name)) is not None
        }
        finish = _value(choice, "finish_reason")
        if isinstance(finish, cst.SimpleString):
            reason = str(finish.evaluated_value)
            fields.append(("status", f'"{FINISH[reason]}"'))
            if reason in REASON:
                fields.append(("incomplete_details", f'{{"reason": "{REASON[reason]}"}}'))
        items = []
        calls = _value(message, "tool_calls")
        found = list(calls.elements) if isinstance(calls, cst.List) else []
        content = _value(message, "content") or cst.Name("None")
        if not is_empty(content) or not found:
            text = expr('""') if is_empty(content) else content
            parts["text_"] = expr('c or ""', c=text) if may_be_none else text
            part = '{"type": "output_text", "text": text_, "annotations": []}'
            items.append(
                _block(
                    [
                        ("id", '"msg_1"'),
                        ("type", '"message"'),
                        ("role", '"assistant"'),
                        ("status", '"completed"'),
                        ("content", f"[{part}]"),
                    ],
                    f"{step}        ",
                )
            )
        for number, element in enumerate(found):
            function = _value(element.value, "function")
            names = {"call_id": _value(element.value, "id")}
            names |= {name: _value(function, name) for name in ("name", "arguments")}
            rows = [("type", '"function_call"')]
            for name, value in names.items():
                assert value is not None
                parts[f"{name}_{number}_"] = value
                rows.append((name, f"{name}_{number}_"))
            items.append(_block(rows, f"{step}        "))
        listed = "".join(f"\n{step}        {item}," for item in items)
        fields += [("output", f"[{listed}\n{step}    ]"), ("parallel_tool_calls", "True")]
        fields += [("tool_choice", '"auto"'), ("tools", "[]")]
        counted = _value(updated, "usage")
        if isinstance(counted, cst.Dict):
            rows = []
            for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
                parts[f"{name}_"] = _value(counted, name) or cst.Integer("0")
                rows.append((USAGE.get(name, name), f"{name}_"))
            rows.append(("input_tokens_details", '{"cached_tokens": 0, "cache_write_tokens": 0}'))
            rows.append(("output_tokens_details", '{"reasoning_tokens": 0}'))
            fields.append(("usage", _block(rows, f"{step}    ")))
        return expr(_block(fields, step), **parts)

    return apply


def _block(rows: list[tuple[str, str]], indent: str) -> str:
    """A dict display, one entry a line, that begins at ``indent``."""
    lines = "".join(f'\n{indent}    "{name}": {value},' for name, value in rows)
    return f"{{{lines}\n{indent}}}"


def _step(node: cst.Dict) -> str:
    """How far a dict is indented, beyond the block it stands in."""
    last = node.elements[-1].comma if node.elements else None
    for space in (node.rbrace.whitespace_before, getattr(last, "whitespace_after", None)):
        if isinstance(space, cst.ParenthesizedWhitespace):
            return space.last_line.value
    return ""
