"""The rules: each file turns one concern of Chat Completions into its Responses form.

``RULES`` is the explicit, ordered list. Each rule is a function that reads the facts in its context
and asks for edits, or gives reasons to hold a flow back.
"""

from __future__ import annotations

from collections.abc import Callable

from . import (
    absent,
    access,
    aliases,
    call,
    compared,
    copied_forms,
    copied_messages,
    double_compared,
    doubles,
    finish,
    functions,
    handlers,
    history,
    lost_parts,
    messages,
    not_null,
    params,
    parts,
    pydantic_tools,
    read_history,
    refusal,
    response_format,
    shadowed,
    stream,
    stream_order,
    text,
    tool_calls,
    tool_messages,
    tools,
    typed_params,
    types,
    unfollowed,
    unread,
    unseen_callers,
)
from .context import Context

RULES: tuple[Callable[[Context], None], ...] = (
    absent.plan,
    params.plan,
    messages.plan,
    functions.plan,
    not_null.plan,
    call.plan,
    access.plan,
    aliases.plan,
    text.plan,
    finish.plan,
    stream.plan,
    stream_order.plan,
    tools.plan,
    pydantic_tools.plan,
    history.plan,
    tool_messages.plan,
    tool_calls.plan,
    read_history.plan,
    copied_messages.plan,
    response_format.plan,
    refusal.plan,
    handlers.plan,
    parts.plan,
    lost_parts.plan,
    types.plan,
    typed_params.plan,
    doubles.plan,
    double_compared.plan,
    unfollowed.plan,
    unread.plan,
    unseen_callers.plan,
    compared.plan,
    copied_forms.plan,
    shadowed.plan,
)
