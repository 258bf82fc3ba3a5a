"""Any Python with calls put into it at random: only these change, and the rest keeps its bytes.

The code is that of the standard library. A small fixed sample runs with the suite.
``PROPERTY_EXAMPLES=5000 pytest tests/test_properties_source.py`` takes as many files, each with other calls
in other places; with ``PROPERTY_SEED`` others still.
"""

from __future__ import annotations

import functools
import os
import random
import sysconfig
import warnings
from pathlib import Path

import libcst as cst
import pytest

from migrate_responses.config import Settings
from migrate_responses.results import Verdict
from migrate_responses.run import migrate
from tests.generated.splicing import spliced
from tests.wire.fixture import outcome

EXAMPLES = int(os.environ.get("PROPERTY_EXAMPLES", "0"))
SEED = int(os.environ.get("PROPERTY_SEED", "0"))
LARGEST = 60_000  # in the sample: to be quick


@functools.cache
def library() -> list[Path]:
    """The standard library's modules, small ones first in no particular order."""
    root = Path(sysconfig.get_path("stdlib"))
    found = [path for path in root.rglob("*.py") if "site-packages" not in path.parts]
    return sorted(path for path in found if "bad" not in path.name and "lib2to3" not in path.parts)


def text_of(path: Path) -> str | None:
    """A module's text, if it is UTF-8 and Python of this version, and LibCST can read it."""
    try:
        text = path.read_bytes().decode("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, str(path), "exec", dont_inherit=True)
        cst.parse_module(text)
    except (UnicodeDecodeError, SyntaxError, ValueError, cst.ParserSyntaxError):
        return None
    return None if "\f" in text or "\x0b" in text or "\x1c" in text or "\u2028" in text else text


def samples() -> list[tuple[Path, int]]:
    """Files with a seed for each."""
    choose = random.Random(SEED)
    if EXAMPLES:
        return [(choose.choice(library()), number + SEED) for number in range(EXAMPLES)]
    small = [path for path in library() if path.stat().st_size < LARGEST]
    return [(path, number) for number, path in enumerate(choose.sample(small, 40))]


@pytest.mark.timeout(0 if EXAMPLES else 300)
def test_the_rest_keeps_its_bytes() -> None:
    tried = 0
    for path, number in samples():
        text = text_of(path)
        mixed = spliced(text, random.Random(number), 1 + number % 5) if text is not None else None
        if mixed is not None:
            tried += 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    check(*mixed)
                except Exception as error:
                    raise AssertionError(f"{path} with seed {number}") from error
    assert tried > len(samples()) / 3


def check(text: str, new: set[int]) -> None:
    """A run over ``text``, of which the lines ``new`` are calls, changes nothing else."""
    compile(text, "before.py", "exec", dont_inherit=True)
    before = {"main.py": text.encode()}
    results = migrate(before, Settings())
    after = outcome(before, results)["main.py"]
    assert not results.errors, results.errors
    compile(after, "after.py", "exec", dont_inherit=True)
    calls = sum(line.count(".completions.create(") for line in text.splitlines())
    assert len(results.sites) >= calls, "a call without a verdict"
    assert results.count(Verdict.LEFT, Verdict.SKIPPED) == 0
    kept = [line for number, line in enumerate(text.splitlines(keepends=True), 1) if number not in new]
    assert is_within(kept, after.decode().splitlines(keepends=True)), "a line that is not ours has changed"
    again = outcome({"main.py": after}, migrate({"main.py": after}, Settings()))
    assert again["main.py"] == after, "a second run changes something"


def is_within(lines: list[str], whole: list[str]) -> bool:
    """Whether ``lines`` are all in ``whole``, in their order."""
    rest = iter(whole)
    return all(line in rest for line in lines)
