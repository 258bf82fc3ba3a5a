"""The script: what the assistant says, turn by turn, whichever protocol asks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

Json = dict[str, Any]


def words(text: str) -> frozenset[str]:
    """A set of names, written as one text."""
    return frozenset(text.split())


TURN_KEYS = frozenset(
    {"text", "calls", "refusal", "finish", "usage", "status", "error", "too_long", "model", "when", "failed"}
)
FINISHES = frozenset({"length", "content_filter"})


@dataclass(frozen=True)
class Call:
    """One tool call. ``payload`` is the arguments (a JSON text), or the input of a custom tool."""

    id: str
    name: str
    payload: str
    custom: bool = False


@dataclass(frozen=True)
class Usage:
    """Token counts, under names of neither protocol."""

    input: int = 11
    output: int = 7
    cached: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output


@dataclass(frozen=True)
class Turn:
    """The answer to one request. ``index`` counts from 1 and is part of every id the server makes up.

    ``when``: the turn answers only a request that contains this text, for programs whose requests arrive
    in no fixed order. ``status`` with ``error``: an HTTP error. ``too_long``: the one that says so of the
    input, in the words of the API that is asked. ``failed``: the answer breaks off with this message, which
    Chat Completions raises and Responses reports inside the answer.
    """

    index: int
    text: str | None = None
    calls: tuple[Call, ...] = ()
    refusal: str | None = None
    finish: str | None = None
    usage: Usage = Usage()
    status: int | None = None
    error: str = ""
    too_long: bool = False
    model: str | None = None
    when: str | None = None
    failed: str | None = None

    def one_call(self) -> Turn:
        """This turn as a server answers it that may call one tool at most."""
        return replace(self, calls=self.calls[:1])


def turns(raw: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """Read the ``turns`` of a ``script.json``. Calls are numbered through, so both protocols agree on ids."""
    result: list[Turn] = []
    calls = 0
    for index, entry in enumerate(raw, 1):
        unknown = set(entry) - TURN_KEYS
        if unknown:
            raise ValueError(f"turn {index}: unknown keys {sorted(unknown)}")
        if entry.get("finish") not in FINISHES | {None}:
            raise ValueError(f"turn {index}: finish must be one of {sorted(FINISHES)}")
        numbered = tuple(
            _call(call, f"call_{number}") for number, call in enumerate(entry.get("calls", ()), calls + 1)
        )
        calls += len(numbered)
        fields = {**entry, "calls": numbered, "usage": Usage(**entry.get("usage", {}))}
        result.append(Turn(index=index, **fields))
    return tuple(result)


def _call(raw: Mapping[str, Any], call_id: str) -> Call:
    if "input" in raw:
        return Call(call_id, raw["name"], raw["input"], custom=True)
    arguments = raw.get("arguments", {})
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, separators=(",", ":"), ensure_ascii=False)
    return Call(call_id, raw["name"], arguments)


def pieces(text: str) -> list[str]:
    """Cut a text as both protocols stream it: by words, and never as one piece if it can be two."""
    words = re.findall(r"\S+\s*|\s+", text)
    if len(words) == 1 and len(text) > 1:
        half = len(text) // 2
        return [text[:half], text[half:]]
    return words


def reasons(model: object) -> bool:
    """Whether a model of this name thinks before it answers."""
    return isinstance(model, str) and bool(re.match(r"o\d|gpt-[5-9]", model)) and "-chat" not in model
