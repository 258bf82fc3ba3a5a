"""The hooks as pre-commit runs them: in an environment that it makes itself, on what is staged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.one_call import AFTER, BEFORE

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = (
    ".pre-commit-hooks.yaml",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "migrate_responses",
    "transforms",
)
NO_PACKAGES = (
    "Could not find a version",
    "No matching distribution",
    "Max retries exceeded",
    "ConnectionError",
)

AGENT = """\
from openai import OpenAI

from tools import TOOLS

client = OpenAI()
answer = client.chat.completions.create(
    model="gpt-4.1", messages=[{"role": "user", "content": "What time is it?"}], tools=TOOLS
)
print(answer.choices[0].message.content)
"""
TOOLS = """\
TOOLS = [
    {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
]
"""


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    command = ["git", "-C", str(root), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@dataclass
class PreCommit:
    """pre-commit with a store of its own, and the repository that offers the hooks."""

    hooks: Path
    store: Path

    def __call__(self, repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        dropped = ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "PYTHONPATH")
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        return subprocess.run(
            [sys.executable, "-m", "pre_commit", *arguments],
            cwd=repository,
            env={**kept, "PRE_COMMIT_HOME": str(self.store), "PRE_COMMIT_COLOR": "never"},
            capture_output=True,
            text=True,
            check=False,
        )

    def config(self, *hooks: str) -> str:
        lines = "".join(f"      - {hook}\n" for hook in hooks)
        revision = git(self.hooks, "rev-parse", "HEAD").strip()
        return f"repos:\n  - repo: {self.hooks}\n    rev: {revision}\n    hooks:\n{lines}"


@pytest.fixture(scope="module")
def pre_commit(tmp_path_factory: pytest.TempPathFactory) -> PreCommit:
    """The hooks of this checkout, installed once for all tests here."""
    folder = tmp_path_factory.mktemp("hooks")
    hooks = folder / "migrate-responses"
    hooks.mkdir()
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, hooks / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(source, hooks / name)
    git(hooks, "init", "-q")
    git(hooks, "add", "-A")
    git(hooks, "commit", "-qm", "all")
    program = PreCommit(hooks, folder / "store")
    empty = repository(folder / "empty", program.config("id: migrate-responses"))
    done = program(empty, "install-hooks")
    if done.returncode and any(sign in done.stdout + done.stderr for sign in NO_PACKAGES):
        pytest.skip("pip can fetch no packages here, and pre-commit makes its own environment")
    assert done.returncode == 0, done.stdout + done.stderr
    return program


def repository(folder: Path, config: str, **files: str) -> Path:
    """A repository with ``files`` committed and nothing staged."""
    folder.mkdir()
    (folder / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "all")
    return folder


def edit(folder: Path, name: str, text: str, *, staged: bool) -> None:
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    if staged:
        git(folder, "add", f"{name}.py")


def read(folder: Path, name: str) -> str:
    return (folder / f"{name}.py").read_text(encoding="utf-8")


@pytest.mark.timeout(600)
def test_what_is_staged_is_migrated_and_nothing_else(pre_commit: PreCommit, tmp_path: Path) -> None:
    config = pre_commit.config("id: migrate-responses", "id: migrate-responses-check")
    here = repository(tmp_path / "app", config, other=BEFORE)
    edit(here, "app", BEFORE, staged=True)
    first = pre_commit(here, "run")
    assert first.returncode == 1
    assert "files were modified by this hook" in first.stdout
    assert "app.py" in git(here, "diff", "--name-only")
    assert read(here, "app") == AFTER
    assert read(here, "other") == BEFORE
    git(here, "add", "app.py")
    second = pre_commit(here, "run")
    assert second.returncode == 0, second.stdout
    assert second.stdout.count("Passed") == 2


@pytest.mark.timeout(600)
def test_a_flow_that_reaches_further_is_left_without_a_word_in_the_code(
    pre_commit: PreCommit, tmp_path: Path
) -> None:
    config = pre_commit.config("{id: migrate-responses, verbose: true}")
    here = repository(tmp_path / "app", config, tools=TOOLS)
    edit(here, "agent", AGENT, staged=True)
    alone = pre_commit(here, "run")
    assert alone.returncode == 0, alone.stdout
    assert (read(here, "agent"), read(here, "tools")) == (AGENT, TOOLS)
    assert "MR907" in alone.stdout
    edit(here, "tools", f"{TOOLS}# touched\n", staged=True)
    both = pre_commit(here, "run")
    assert both.returncode == 1
    assert "client.responses.create(" in read(here, "agent")
    assert '"function": {' not in read(here, "tools")


@pytest.mark.timeout(600)
def test_the_check_names_what_remains(pre_commit: PreCommit, tmp_path: Path) -> None:
    held = BEFORE.replace('"Hi"}]', '"Hi"}], stop=["x"]')
    here = repository(tmp_path / "app", pre_commit.config("id: migrate-responses-check"), other=BEFORE)
    edit(here, "app", held, staged=True)
    strict = pre_commit(here, "run")
    assert strict.returncode == 1
    assert "app.py:4:10" in strict.stdout
    assert "MR112" in strict.stdout
    assert "other.py" not in strict.stdout
    accepting = pre_commit.config(
        "{id: migrate-responses, name: first}", "{id: migrate-responses-check, args: [--allow-todo]}"
    )
    (here / ".pre-commit-config.yaml").write_text(accepting, encoding="utf-8")
    git(here, "add", "-A")
    assert pre_commit(here, "run").returncode == 1  # the comment has been written
    git(here, "add", "-A")
    again = pre_commit(here, "run")
    assert again.returncode == 0, again.stdout
    assert "TODO(migrate-responses): MR112" in read(here, "app")


@pytest.mark.timeout(600)
def test_unstaged_work_is_put_aside_and_comes_back(pre_commit: PreCommit, tmp_path: Path) -> None:
    here = repository(tmp_path / "app", pre_commit.config("id: migrate-responses"), app="x = 1\n")
    edit(here, "app", f"{BEFORE}\n\n\n\n\nx = 1\n", staged=True)
    edit(here, "app", f"{BEFORE}\n\n\n\n\nx = 2\n", staged=False)
    pre_commit(here, "run")
    assert read(here, "app").endswith("x = 2\n")
    assert read(here, "app").startswith((AFTER, BEFORE))
