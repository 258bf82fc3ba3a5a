"""What a large project costs grows with what matters in it, not faster: steps are counted, not seconds."""

from __future__ import annotations

import pytest

from benchmarks.monolith import monolith
from migrate_responses.config import Settings
from migrate_responses.find.reach import reach
from migrate_responses.know.modules import Module
from migrate_responses.know.project import Project
from migrate_responses.results import Verdict
from migrate_responses.run import migrate
from migrate_responses.transforms import tested, unfollowed

HEAD = "from openai import OpenAI\n\nclient = OpenAI()\n"
CALL = 'client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": "Hi"}])'
READ = "print(answer.choices[0].message.content)\n"


def _work(sources: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """The steps of the solver, and how many calls are migrated, which must be all."""
    steps: list[int] = []
    solve = Project.solve

    def count(self: Project) -> None:
        solve(self)
        steps.append(self.solver.steps)

    with monkeypatch.context() as patched:
        patched.setattr(Project, "solve", count)
        results = migrate({path: text.encode() for path, text in sources.items()}, Settings())
    assert not results.errors
    assert {site.verdict for site in results.sites} == {Verdict.MIGRATED}
    return sum(steps), len(results.sites)


def _reached(modules: int, matter: int) -> dict[str, str]:
    """The modules of a large application that calls can reach, as a run finds them on disk."""
    files = {path: text for path, text in monolith(modules, matter).items() if path.endswith(".py")}
    data = {path: text.encode() for path, text in files.items()}
    found = {path: text for path, text in data.items() if b"openai" in text or b"completions" in text}
    return {path: files[path] for path in {*found, *reach(found, files, data.get)}}


def test_an_application_of_twice_as_many_modules_takes_twice_the_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small, few = _work(_reached(500, 30), monkeypatch)
    large, many = _work(_reached(1_000, 60), monkeypatch)
    assert many - 1 == 2 * (few - 1)  # all but the one in the base class
    assert large < 2.5 * small


def _chain(size: int) -> str:
    """Functions that hand the answer on, each to the next."""
    links = "".join(f"def f{n}(answer):\n    return f{n + 1}(answer)\n\n" for n in range(size))
    return f"{HEAD}{links}def f{size}(answer):\n    return answer\n\nanswer = f0({CALL})\n{READ}"


def _circle(size: int) -> str:
    """Functions that call one another around and around."""
    links = "".join(
        f"def f{n}(answer, depth):\n    return f{(n + 1) % size}(answer, depth - 1) if depth else answer\n\n"
        for n in range(size)
    )
    return f"{HEAD}{links}answer = f0({CALL}, 3)\n{READ}"


@pytest.mark.parametrize("make", [_chain, _circle])
def test_an_answer_that_goes_through_many_functions(make: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(make)
    small, _ = _work({"main.py": make(100)}, monkeypatch)
    large, _ = _work({"main.py": make(200)}, monkeypatch)
    assert large < 2.2 * small


def _asked(size: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a run over ``size`` modules asks of one whether it is a test."""
    asked: list[Module] = []
    is_test = tested.is_test

    def count(module: Module) -> bool:
        asked.append(module)
        return is_test(module)

    files = {path: text.encode() for path, text in monolith(size, size).items() if path.endswith(".py")}
    with monkeypatch.context() as patched:
        patched.setattr(tested, "is_test", count)
        migrate(files, Settings())
    return len(asked)


def test_which_modules_a_test_is_about_is_not_searched_for_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    few = _asked(60, monkeypatch)
    assert few
    assert _asked(120, monkeypatch) < 2.5 * few


def test_a_function_is_not_gone_through_for_each_read_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time grew with the square of the reads."""
    walked: list[object] = []
    walk = unfollowed.walk
    monkeypatch.setattr(unfollowed, "walk", lambda node: walked.append(node) or walk(node))
    reads = ", ".join(f"(answer.choices[0].message.content if ready({n}) else {n})" for n in range(50))
    _work({"main.py": f"{HEAD}answer = {CALL}\nprint({reads})\n"}, monkeypatch)
    assert len(walked) < 10
