"""The solver: what it finds does not depend on which variables it takes together on the way."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter

import pytest

from migrate_responses.config import Settings
from migrate_responses.know import graph
from migrate_responses.know.graph import Solver, Var, cycles
from migrate_responses.know.kinds import External, Value
from migrate_responses.results import Verdict
from migrate_responses.run import migrate


def _solved(seed: int, size: int) -> tuple[list[set[Value]], Counter[tuple[int, Value]]]:
    """A graph made up from ``seed``: the values of each variable, and how often each watcher heard of each.

    Some watchers add edges, some edges let only some values through.
    """
    dice = random.Random(seed)
    solver = Solver()
    variables = [Var() for _ in range(size)]
    heard: Counter[tuple[int, Value]] = Counter()
    values = [External(f"m{number}") for number in range(8)]
    for number, var in enumerate(variables):
        extra = (dice.choice(variables), dice.choice(variables), dice.choice(values))

        def listen(value: Value, number: int = number, extra: tuple[Var, Var, External] = extra) -> None:
            heard[number, value] += 1
            source, target, wanted = extra
            if value == wanted:
                solver.flow(source, target)

        solver.watch(var, listen)
    for _ in range(size * 3 // 2):
        solver.flow(dice.choice(variables), dice.choice(variables))
    for _ in range(size // 4):
        kept = dice.choice(values)
        solver.flow_if(dice.choice(variables), dice.choice(variables), lambda value, kept=kept: value == kept)
    for value in values:
        solver.add(dice.choice(variables), [value])
        if dice.random() < 0.5:
            solver.run()
    solver.run()
    return [set(var.values) for var in variables], heard


@pytest.mark.parametrize("seed", range(25))
def test_cycles_change_nothing_but_the_cost(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "_PATIENCE", 10**9)
    apart, heard_apart = _solved(seed, 12)
    monkeypatch.setattr(graph, "_PATIENCE", 1)
    together, heard_together = _solved(seed, 12)
    assert together == apart
    assert heard_together == heard_apart
    assert set(heard_together.values()) <= {1}


def test_a_circle_costs_what_a_line_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that come one by one would go around again and again."""
    monkeypatch.setattr(graph, "_PATIENCE", 1_000)
    solver = Solver()
    circle = [Var() for _ in range(1_000)]
    for source, target in zip(circle, [*circle[1:], circle[0]], strict=True):
        solver.flow(source, target)
    for number in range(15):
        solver.add(circle[number], [External(f"m{number}")])
        solver.run()
    assert all(len(var.values) == 15 for var in circle)
    assert solver.steps < 10_000


def test_what_flows_to_each_other_is_found() -> None:
    solver = Solver()
    one, two, three, alone = (Var() for _ in range(4))
    for source, target in ((one, two), (two, three), (three, one), (three, alone)):
        solver.flow(source, target)
    assert [set(group) for group in cycles([alone, one])] == [{one, two, three}]


_CALL = b"""\
from openai import OpenAI

answer = OpenAI().chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": "Hi"}])
print(answer.choices[0].message.content)
"""


def test_the_bound_holds_back_what_hit_it_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "STEP_LIMIT", 2_000)
    chain = b"".join(b"def f%d(x):\n    return f%d(x)\n\n" % (n, n + 1) for n in range(500))
    sources = {"large/main.py": chain + _CALL + b"f0(answer)\n", "small/main.py": _CALL}
    large, small = migrate(sources, Settings()).sites
    assert (large.path, large.verdict) == ("large/main.py", Verdict.MANUAL)
    assert [reason.code for reason in large.reasons if "too many steps" in reason.message] == ["MR909"]
    assert (small.path, small.verdict) == ("small/main.py", Verdict.MIGRATED)


ORDER = """
import hashlib
from migrate_responses.know.graph import Solver
from tests.programs import described, known

log, add = hashlib.sha256(), Solver.add

def told(self, var, values):
    values = list(values)
    log.update(repr(list(map(described, values))).encode())
    add(self, var, values)

Solver.add = told
names = ["alpha", "beta", "gamma", "delta", "eps", "zeta"]
start = "".join(map("    {0} = '{0}'\\n".format, names))
again = "".join(map("        {0} = {0} + '{0}'\\n        print({0})\\n".format, names))
member = "    {0} = '{0}'\\n    def do_{0}(self):\\n        return self.{0}\\n"
known({"main.py": f'''
class It:
{"".join(map(member.format, names))}

def run(it: It):
{start}
    while it:
{again}
    print({", ".join(names)})
run(It())
'''})
print(log.hexdigest())
"""


def test_every_process_goes_the_same_way() -> None:
    """What is asked first decides how a reason is worded; hashes of strings differ in each process."""
    ways = {
        subprocess.run(
            [sys.executable, "-c", ORDER],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(1, 4)
    }
    assert len(ways) == 1


_ASK = """\
from openai import OpenAI

client = OpenAI()


def ask(messages):
    return client.chat.completions.create(model="gpt-4o-mini", messages=messages)


"""
_LISTS = "".join(
    f"print(ask([{{'role': 'user', 'content': '{n}'}}]).choices[0].message.content)\n" for n in range(6)
)
_ROWS = "".join(f"rows.append([{n}])\n" for n in range(6))
_TABLE = "".join(f"table.append({{'run': run_{n}}})\n" for n in range(6))
_CROWDS = {
    "a message of one of the lists": _LISTS.replace("'content': '5'", "'content': '5', 'name': 'me'"),
    "an answer in one of the lists": (
        f"rows = []\n{_ROWS}rows.append([ask([])])\nprint(rows[-1][0].choices)\n"
    ),
    "a list that is changed among others": (
        f"own = [{{'role': 'user', 'content': 'Hi'}}]\nrows = []\n{_ROWS}rows.append(own)\n"
        "for row in rows:\n    row.append({'role': 'user', 'content': 'Ho', 'name': 'me'})\n"
        "print(ask(own).choices[0].message.content)\n"
    ),
    "what a function in one of the dicts is given": (
        "".join(f"def run_{n}(messages):\n    return {n}\n\n" for n in range(5))
        + "def run_5(messages):\n    return ask(messages).choices[0].message.content\n\n"
        + "run_5([{'role': 'user', 'content': 'Hi'}])\n"
        + f"table = []\n{_TABLE}"
        + "for row in table:\n    print(row['run']([{'role': 'user', 'content': 'Ho', 'name': 'me'}]))\n"
    ),
}


@pytest.mark.parametrize("rest", _CROWDS.values(), ids=list(_CROWDS))
def test_what_is_lost_in_a_crowd_holds_back(rest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a number, objects at one place are not told apart; which calls that is about is."""
    alone = _ASK + "print(ask([{'role': 'user', 'content': 'Hi'}]).choices[0].message.content)\n"
    sources = {"crowd/main.py": (_ASK + rest).encode(), "alone/main.py": alone.encode()}
    monkeypatch.setattr(graph, "_LIMITS", (64, 16, 4))
    alone_site, crowd = migrate(sources, Settings()).sites
    assert alone_site.verdict is Verdict.MIGRATED
    assert crowd.verdict is Verdict.MANUAL
    assert "MR909" in {reason.code for reason in crowd.reasons}


def test_objects_are_told_apart_less_in_a_program_that_takes_many_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else each of its places would hand on all that any of them holds."""
    sources = {"main.py": (_ASK + _LISTS).encode()}
    assert [site.verdict for site in migrate(sources, Settings()).sites] == [Verdict.MIGRATED]
    monkeypatch.setattr(graph, "CROWDED", 0)
    monkeypatch.setattr(graph, "_CROWDED_LIMITS", (64, 16, 4))
    (site,) = migrate(sources, Settings()).sites
    assert "MR909" in {reason.code for reason in site.reasons}
