"""Which files a run reads, and which of them it may write."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from migrate_responses.find.candidates import matters, read
from migrate_responses.find.project import Project, find
from migrate_responses.find.roots import is_packaged, nearest_pyproject

USES = "import openai\n"


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def one(paths: Sequence[Path], exclude: Sequence[str] = ()) -> Project:
    projects = find([str(path) for path in paths], exclude)
    assert len(projects) == 1
    return projects[0]


IGNORED_TREE = {
    ".gitignore": "build/\n*.gen.py\n/only_root.py\n",
    "app.py": USES,
    "a.gen.py": USES,
    "only_root.py": USES,
    "build/lib.py": USES,
    "pkg/only_root.py": USES,
    "pkg/.gitignore": "!keep.gen.py\nlocal/\n",
    "pkg/keep.gen.py": USES,
    "pkg/drop.gen.py": USES,
    "pkg/local/x.py": USES,
    "pkg/sub/local/y.py": USES,
    ".venv/x.py": USES,
    "node_modules/x.py": USES,
    "env/pyvenv.cfg": "home = /usr\n",
    "env/lib/x.py": USES,
    "pkg/__pycache__/x.py": USES,
    "notes.txt": USES,
    "gui.pyw": USES,
}
KEPT = ["app.py", "gui.pyw", "pkg/keep.gen.py", "pkg/only_root.py"]


@pytest.mark.parametrize("with_git", [True, False])
def test_what_git_ignores_is_left_out(tmp_path: Path, with_git: bool) -> None:
    tree(tmp_path, {**IGNORED_TREE, "pyproject.toml": ""})
    if with_git:
        git(tmp_path, "init", "-q")
    project = one([tmp_path])
    assert sorted(project.sources) == KEPT
    assert project.writable == set(KEPT)


def test_git_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, IGNORED_TREE)
    git(tmp_path, "init", "-q")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert sorted(one([tmp_path]).sources) == KEPT


def test_deleted_and_replaced_files_are_dropped(tmp_path: Path) -> None:
    tree(tmp_path, {"a.py": USES, "gone.py": USES, "folder.py/x.py": USES, "real/m.py": USES})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    (tmp_path / "gone.py").unlink()
    outside = tree(tmp_path.parent / f"{tmp_path.name}-outside", {"m.py": USES})
    (tmp_path / "real" / "m.py").unlink()
    (tmp_path / "real").rmdir()
    (tmp_path / "real").symlink_to(outside)
    assert sorted(one([tmp_path]).sources) == ["a.py", "folder.py/x.py"]


def test_the_repository_names_no_program_to_run(tmp_path: Path) -> None:
    tree(tmp_path, {"a.py": USES})
    git(tmp_path, "init", "-q")
    spy = tmp_path / "spy.sh"
    spy.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
    spy.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(spy))
    one([tmp_path])
    assert not (tmp_path / "ran").exists()


def test_a_hook_s_environment_does_not_mislead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tree(tmp_path / "other", {"b.py": USES})
    git(other, "init", "-q")
    here = tree(tmp_path / "here", {"a.py": USES})
    git(here, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert list(one([here]).sources) == ["a.py"]


def test_named_files_count_even_if_ignored(tmp_path: Path) -> None:
    tree(tmp_path, IGNORED_TREE)
    git(tmp_path, "init", "-q")
    project = one([tmp_path / "a.gen.py"])
    assert project.writable == {"a.gen.py"}
    assert one([tmp_path / "build"]).writable == {"build/lib.py"}


def test_a_named_script_needs_no_suffix(tmp_path: Path) -> None:
    tree(tmp_path, {"pyproject.toml": "", "bin/tool": USES})
    assert one([tmp_path / "bin" / "tool"]).writable == {"bin/tool"}


def test_what_the_named_files_touch_is_context(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": "",
        "src/a.py": f"{USES}client = openai.OpenAI()\n",
        "src/b.py": "import a\nprint(a.client)\n",
        "tests/conftest.py": USES,
        "tests/patches.py": f'{USES}patch("src.a.client")\n',
        "tests/data.py": f"{USES}data = 1\n",
        "conftest.py": USES,
        "other/c.py": USES,
    }
    project = one([tree(tmp_path, files) / "src" / "a.py"])
    assert project.root == str(tmp_path)
    assert list(project.sources) == ["conftest.py", "src/a.py", "src/b.py", "tests/patches.py"]
    assert project.writable == {"src/a.py"}
    everything = one([tmp_path])
    assert sorted(everything.sources) == sorted(name for name in files if name.endswith(".py"))
    assert everything.writable == everything.sources.keys()


def test_stubs_beside_what_matters_are_read(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": "",
        "a.py": USES,
        "a.pyi": USES,
        "b.py": USES,
        "b.pyi": "x: int\n",
        "c.pyi": USES,
    }
    assert sorted(one([tree(tmp_path, files)]).sources) == ["a.py", "a.pyi", "b.py"]


def test_excluded_files_are_read_but_not_written(tmp_path: Path) -> None:
    uses = f"{USES}from a import client\n"
    own = f"{USES}client = openai.OpenAI()\n"
    tree(tmp_path, {"pyproject.toml": "", "a.py": own, "vendor/b.py": uses, "x/vendor/c.py": uses})
    project = one([tmp_path], ["vendor/"])
    assert sorted(project.sources) == ["a.py", "vendor/b.py", "x/vendor/c.py"]
    assert project.writable == {"a.py"}
    assert one([tmp_path / "vendor" / "b.py"], ["vendor/"]).writable == frozenset()


def test_a_lone_file_does_not_drag_its_folder_tree_in(tmp_path: Path) -> None:
    tree(tmp_path, {"a.py": f"{USES}x = openai\n", "beside.py": "from a import x\n", "deep/er.py": USES})
    project = one([tmp_path / "a.py"])
    assert sorted(project.sources) == ["a.py", "beside.py"]
    assert project.writable == {"a.py"}


def test_two_projects(tmp_path: Path) -> None:
    tree(tmp_path, {f"{name}/{file}": USES for name in "ab" for file in ("pyproject.toml", "m.py")})
    projects = find([str(tmp_path / "b"), str(tmp_path / "a"), str(tmp_path / "b" / "m.py")])
    assert [project.root for project in projects] == [str(tmp_path / "b"), str(tmp_path / "a")]
    assert all(project.writable == {"m.py"} for project in projects)


def test_links_out_of_the_project(tmp_path: Path) -> None:
    outside = tree(tmp_path / "outside", {"secret.py": USES})
    here = tree(tmp_path / "here", {"pyproject.toml": "", "a.py": USES})
    (here / "link.py").symlink_to(outside / "secret.py")
    (here / "folder").symlink_to(outside)
    (here / "inner.py").symlink_to(here / "a.py")
    (here / "broken.py").symlink_to(here / "nothing.py")
    assert list(one([here]).sources) == ["a.py"]
    for name in ("link.py", "folder"):
        project = one([here / name])
        assert project.writable == frozenset()
        assert [(error.code, error.path) for error in project.errors] == [("MR903", name)]
    assert one([here / "inner.py"]).writable == {"a.py"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipes_are_not_opened(tmp_path: Path) -> None:
    tree(tmp_path, {"pyproject.toml": "", "a.py": USES})
    os.mkfifo(tmp_path / "pipe.py")
    assert list(one([tmp_path]).sources) == ["a.py"]
    assert one([tmp_path / "pipe.py"]).writable == frozenset()
    assert read(str(tmp_path / "pipe.py")) is None


def test_unreadable_files_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"pyproject.toml": "", "a.py": USES, "b.py": USES, "sub/c.py": USES})
    real_open = os.open

    def refuse(path: str, *rest: int) -> int:
        if path.endswith(("b.py", "c.py")):
            raise PermissionError(13, "Permission denied", path)
        return real_open(path, *rest)

    monkeypatch.setattr(os, "open", refuse)
    project = one([tmp_path / "a.py", tmp_path / "b.py"])
    assert list(project.sources) == ["a.py"]
    assert [(error.code, error.path, error.message) for error in project.errors] == [
        ("MR903", "b.py", "could not be read: Permission denied")
    ]


def test_an_unreadable_folder_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"pyproject.toml": "", "a.py": USES, "closed/b.py": USES})
    real_scandir = os.scandir

    def refuse(path: str) -> object:
        if str(path).rstrip("/").endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert list(one([tmp_path]).sources) == ["a.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="names are text there")
def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    tree(tmp_path, {"pyproject.toml": ""})
    Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), b"caf\xe9.py"))).write_text(USES, encoding="utf-8")
    assert one([tmp_path]).writable == {os.fsdecode(b"caf\xe9.py")}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"from openai import OpenAI", True),
        (b"OPENAI_API_KEY", True),
        (b"client.chat\\\n    .completions.create()", True),
        (b'url = base + "/chat/completions"', True),
        (b"print('hello')", False),
        (b"readline.set_completions()", False),
        (b"", False),
    ],
)
def test_prefilter(data: bytes, expected: bool) -> None:
    assert matters(data) is expected


def test_files_without_openai_are_not_kept(tmp_path: Path) -> None:
    tree(tmp_path, {"pyproject.toml": "", "a.py": USES, **{f"m{n}.py": "x = 1\n" for n in range(5)}})
    project = one([tmp_path])
    assert list(project.sources) == ["a.py"]
    assert project.seen == 6


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": '[project]\nname = "x"\n'}, True),
        ({"pyproject.toml": '[tool.poetry]\nname = "x"\n'}, True),
        ({"pyproject.toml": "[tool.ruff]\n"}, False),
        ({"setup.py": ""}, True),
        ({"setup.cfg": ""}, True),
        ({}, False),
    ],
)
def test_packaged(tmp_path: Path, files: dict[str, str], expected: bool) -> None:
    tree(tmp_path, {**files, ".git/HEAD": "", "src/deep/a.py": USES})
    assert is_packaged(str(tmp_path / "src" / "deep")) is expected


def test_configuration_is_not_sought_above_the_repository(tmp_path: Path) -> None:
    tree(tmp_path, {"pyproject.toml": "", "repo/.git/HEAD": "", "repo/src/a.py": USES})
    assert nearest_pyproject(str(tmp_path / "repo" / "src")) is None
    tree(tmp_path, {"repo/pyproject.toml": ""})
    assert nearest_pyproject(str(tmp_path / "repo" / "src")) == str(tmp_path / "repo" / "pyproject.toml")
