"""What both endpoints check alike, and the one way to say no."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from .script import Json


class Refused(Exception):
    """A request the real endpoint answers with an error."""

    def __init__(
        self, message: str, param: str | None = None, code: str | None = None, status: int = 400
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code
        self.status = status

    def body(self) -> Json:
        """The error as the endpoint writes it."""
        kind = "authentication_error" if self.status == 401 else "invalid_request_error"
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


def only(value: Mapping[str, Any], allowed: Collection[str], where: str = "") -> None:
    """Refuse a key that is not in ``allowed``."""
    for key in value:
        if key not in allowed:
            path = f"{where}.{key}" if where else key
            raise Refused(f"Unknown parameter: '{path}'.", path, "unknown_parameter")


def need(value: Mapping[str, Any], keys: Collection[str], where: str = "") -> None:
    """Refuse if one of ``keys`` is missing."""
    for key in keys:
        if key not in value:
            path = f"{where}.{key}" if where else key
            raise Refused(f"Missing required parameter: '{path}'.", path, "missing_required_parameter")


def typed(value: object, kinds: type | tuple[type, ...], where: str) -> None:
    """Refuse a value of another type. A bool is no number."""
    wanted = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        names = " or ".join(kind.__name__ for kind in wanted)
        got = "null" if value is None else type(value).__name__
        raise Refused(
            f"Invalid type for '{where}': expected {names}, but got {got} instead.", where, "invalid_type"
        )


def choice(value: object, allowed: Collection[Any], where: str) -> None:
    """Refuse a value that is not one of ``allowed``."""
    if value not in allowed:
        supported = ", ".join(repr(item) for item in sorted(allowed))
        message = f"Invalid value: {value!r}. Supported values are: {supported}."
        raise Refused(message, where, "invalid_value")


def common(body: Json) -> None:
    """Parameters that mean the same, and are checked alike, on both endpoints."""
    need(body, ["model"])
    typed(body["model"], str, "model")
    for key in ("temperature", "top_p"):
        if body.get(key) is not None:
            typed(body[key], (int, float), key)
            if not 0 <= body[key] <= (2 if key == "temperature" else 1):
                raise Refused(f"Invalid '{key}': out of range.", key, "decimal_out_of_range")
    for key in ("stream", "store", "parallel_tool_calls"):
        if body.get(key) is not None:
            typed(body[key], bool, key)
    for key in ("user", "service_tier", "safety_identifier", "prompt_cache_key"):
        if body.get(key) is not None:
            typed(body[key], str, key)
    if body.get("metadata") is not None:
        typed(body["metadata"], dict, "metadata")
        for key, value in body["metadata"].items():
            typed(value, str, f"metadata.{key}")
    if body.get("stream_options") is not None and not body.get("stream"):
        raise Refused(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options"
        )


def function_schema(tool: Mapping[str, Any], where: str) -> None:
    """A function tool's own fields: a name, and a schema, which keeps the rules of strict mode if strict."""
    typed(tool["name"], str, f"{where}.name")
    if tool.get("parameters") is not None:
        typed(tool["parameters"], dict, f"{where}.parameters")
    if tool.get("strict") is not None:
        typed(tool["strict"], bool, f"{where}.strict")
    if tool.get("strict") and tool.get("parameters") is not None:
        strict_schema(tool["parameters"], f"function '{tool['name']}'")


def strict_schema(schema: object, what: str) -> None:
    """Refuse a schema that strict mode does not take: every object closed, every property required."""
    if isinstance(schema, list):
        for entry in schema:
            strict_schema(entry, what)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object" and "properties" in schema:
        if schema.get("additionalProperties") is not False:
            raise Refused(
                f"Invalid schema for {what}: 'additionalProperties' is required to be supplied and false.",
                code="invalid_function_parameters",
            )
        missing = sorted(set(schema["properties"]) - set(schema.get("required", ())))
        if missing:
            raise Refused(
                f"Invalid schema for {what}: 'required' must include every property; missing {missing}.",
                code="invalid_function_parameters",
            )
    for value in schema.values():
        strict_schema(value, what)


def json_schema_format(fmt: Mapping[str, Any], where: str, required: Collection[str]) -> None:
    """The fields of a structured output format, wherever the protocol puts them."""
    need(fmt, required, where)
    typed(fmt["name"], str, f"{where}.name")
    if fmt.get("schema") is not None:
        typed(fmt["schema"], dict, f"{where}.schema")
    if fmt.get("strict"):
        strict_schema(fmt.get("schema"), f"response_format '{fmt['name']}'")


def offered(name: str, names: Collection[str], where: str = "tool_choice") -> None:
    """Refuse the choice of a tool that the request does not bring along."""
    if name not in names:
        raise Refused(f"Tool choice '{name}' not found in 'tools' parameter.", where)
