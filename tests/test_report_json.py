"""The JSON report: what it tells, that its schema holds, and that the page about it is complete."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from migrate_responses.results import Verdict
from migrate_responses.show.document import JSON_VERSION, as_json, document
from migrate_responses.show.since import compare
from tests.reports import EVERYTHING, HEAD, call, report

SCHEMA = json.loads((files("migrate_responses") / "schemas" / "report.json").read_text(encoding="utf-8"))


def strict(schema: Any) -> Any:
    """The schema with no room for fields that it does not name."""
    if isinstance(schema, dict):
        found = {key: strict(value) for key, value in schema.items()}
        if "properties" in found and "additionalProperties" not in found:
            found["additionalProperties"] = False
        return found
    return [strict(item) for item in schema] if isinstance(schema, list) else schema


def complaints(written: Any, schema: Any = SCHEMA) -> list[str]:
    validator = Draft202012Validator(strict(schema), format_checker=Draft202012Validator.FORMAT_CHECKER)
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(written)]


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(as_json(report(EVERYTHING, {"name": "demo"})))
    return loaded


def test_the_schema_is_sound() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["version"]["const"] == JSON_VERSION


def test_what_is_written_fits_the_schema(written: dict[str, Any]) -> None:
    assert complaints(written) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("summary", "sites"), -1),
        (("sites", 0, "verdict"), "maybe"),
        (("sites", 0, "key"), "short"),
        (("flows", 0, "places", 0, "line"), 0),
        (("rules",), {"MR1": {}}),
        (("date",), "today"),
        (("options", "per_file_ignores"), [["a.py"]]),
    ],
)
def test_the_schema_refuses(written: dict[str, Any], path: tuple[Any, ...], value: object) -> None:
    wrong = copy.deepcopy(written)
    place = wrong
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert complaints(wrong)


def test_it_tells_the_counts(written: dict[str, Any]) -> None:
    assert written["summary"] == {
        "files_seen": 7,
        "files_read": 7,
        "files_changed": 3,
        "sites": 6,
        "migrated": 2,
        "unsafe": 1,
        "manual": 1,
        "left": 1,
        "skipped": 1,
        "double": 0,
        "on_responses": 1,
        "errors": 1,
    }
    ready = next(file for file in written["files"] if file["path"] == "app/ready.py")
    assert ready["migrated"] == 2
    assert ready["added"] > 0
    assert ready["removed"] > 0
    moved = next(file for file in written["files"] if file["path"] == "moved.py")
    assert moved["on_responses"] == {"moved": 1}


def test_it_tells_each_call_and_its_reasons(written: dict[str, Any]) -> None:
    (site,) = (site for site in written["sites"] if site["path"] == "app/stopped.py")
    assert (site["line"], site["column"], site["scope"]) == (7, 14, "stopped")
    assert (site["text"], site["verdict"]) == ("client.chat.completions.create", "manual")
    (reason,) = site["reasons"]
    assert (reason["code"], reason["title"], reason["level"]) == ("MR112", "stop", "manual")
    assert (reason["path"], reason["line"]) == ("app/stopped.py", 10)
    assert reason["message"]
    assert reason["next_step"]
    assert written["rules"]["MR112"]["url"].endswith("docs/rules.md#mr112")


def test_it_tells_every_place_of_a_flow(written: dict[str, Any]) -> None:
    (site,) = (site for site in written["sites"] if site["path"] == "app/stopped.py")
    flow = next(flow for flow in written["flows"] if flow["number"] == site["flow"])
    told = {(place["role"], place["line"]) for place in flow["places"]}
    assert {
        ("client", 3),
        ("call", 7),
        ("request", 9),
        ("request", 10),
        ("answer", 12),
        ("reason", 10),
    } <= told
    assert {place["end_line"] for place in flow["places"] if place["role"] == "call"} == {11}


def test_a_flow_over_files_is_told_whole() -> None:
    helper = 'def user(text):\n    return {"role": "user", "content": text}\n'
    main = (
        HEAD
        + "from helper import user\n\n"
        + call("ask")
        .replace('{"role": "user", "content": question}', "user(question)")
        .replace("    )\n    return", '        stop="x",\n    )\n    return')
    )
    found = document(report({"helper.py": helper, "main.py": main}))
    (flow,) = found["flows"]
    assert ("request", "helper.py", 2) in {(p["role"], p["path"], p["line"]) for p in flow["places"]}


def test_keys_stay_when_lines_move() -> None:
    first = HEAD + call("one") + call("two", "        stop='x',\n")
    second = HEAD + "\n\n# a comment\n\n" + call("zero") + call("two", "        stop='x',\n") + call("one")
    keys = [
        {site["scope"]: site["key"] for site in document(report({"a.py": text}))["sites"]}
        for text in (first, second)
    ]
    assert keys[0]["one"] == keys[1]["one"]
    assert keys[0]["two"] == keys[1]["two"]
    assert len(set(keys[1].values())) == 3


def test_the_same_code_gives_the_same_report() -> None:
    assert as_json(report(EVERYTHING)) == as_json(report(dict(reversed(EVERYTHING.items()))))


def test_the_date_is_there_if_asked_for() -> None:
    assert document(report({}))["date"] is None
    assert complaints(document(report({}, {"date": "2026-01-31"}))) == []


def test_a_comparison_fits_the_schema(written: dict[str, Any]) -> None:
    later = report(
        {**EVERYTHING, "app/ready.py": HEAD + call("plain", "        stop='x',\n") + call("third")}
    )
    since = compare("before.json", written, document(later))
    found = document(report(EVERYTHING, {"since": since}))
    assert found["since"]["label"] == "before.json"
    assert [entry["scope"] for entry in found["since"]["held"]] == ["plain"]
    assert complaints(found) == []


def test_odd_paths_are_written_in_ascii() -> None:
    name = os.fsdecode(b"\xff \x1b[1m.py")
    text = as_json(report({name: HEAD + call("one")}))
    assert text.isascii()
    assert "\x1b" not in text
    assert json.loads(text)["sites"][0]["path"] == name


def fields(schema: Any) -> Iterator[str]:
    """Every field that the schema names."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from fields(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from fields(value)


def test_every_field_is_on_the_page_about_it() -> None:
    page = (Path(__file__).resolve().parent.parent / "docs" / "json.md").read_text(encoding="utf-8")
    assert [name for name in sorted(set(fields(SCHEMA))) if f"`{name}`" not in page] == []
    assert {verdict.value for verdict in Verdict} == set(SCHEMA["$defs"]["verdict"]["enum"])
