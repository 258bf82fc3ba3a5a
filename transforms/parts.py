"""Content parts of messages (MR604, MR605)."""

from __future__ import annotations

from ..know.kinds import SeqValue
from .context import Context
from .messages import messages_of


def plan(context: Context) -> None:
    for site in context.sites:
        for message in messages_of(context, site):
            content = message.fields.get("content")
            if content is None:
                continue
            for value in content.values:
                if isinstance(value, SeqValue):
                    context.manual(value.node, value.module, [site], "MR604", "content parts are not understood")
