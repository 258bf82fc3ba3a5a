"""The trees that are measured, built from packages of PyPI and from the standard library, once."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from . import monolith as monoliths

LARGE = ("Django==5.2.8", "SQLAlchemy==2.0.44", "sympy==1.14.0")
CALLS = ("mem0ai==1.0.0", "gptme==0.28.3", "chatlas==0.13.2", "simpleaichat==0.2.2", "magentic==0.41.0")
LINK = "print(completion.choices[0].message.content)\n"


def large(cache: Path) -> Path:
    """Much Python without OpenAI: Django, SQLAlchemy, SymPy and the standard library."""
    tree = cache / "large"
    if not tree.exists():
        _install(LARGE, tree)
        ignored = shutil.ignore_patterns("site-packages", "__pycache__")
        shutil.copytree(sysconfig.get_path("stdlib"), tree / "stdlib", ignore=ignored)
        _ready(tree)
    return tree


def calls(cache: Path) -> Path:
    """Packages that use Chat Completions, each a project of its own."""
    tree = cache / "calls"
    if not tree.exists():
        for package in CALLS:
            _install((package,), tree / package.partition("==")[0])
        _ready(tree)
    return tree


def programs(cache: Path, count: int, every: int) -> Path:
    """``count`` scripts in some folders, one in ``every`` with a call."""
    tree = cache / f"programs{count}_each{every}"
    if not tree.exists():
        for number in range(count):
            path = tree / f"part{number // 1000}" / f"script{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_SCRIPT if number % every == 0 else _PLAIN, encoding="utf-8")
        _ready(tree)
    return tree


def monolith(cache: Path, modules: int) -> Path:
    """One application of ``modules`` modules, of which 6 % have to do with calls."""
    tree = cache / f"monolith{modules}"
    if not tree.exists():
        for name, text in monoliths.monolith(modules, modules * 6 // 100).items():
            path = tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        _ready(tree)
    return tree


_PLAIN = '''"""Some work."""


def work(values):
    return [value * 2 for value in values if value]


if __name__ == "__main__":
    print(work([1, 2, 3]))
'''
_SCRIPT = f'''"""A question."""

from openai import OpenAI

client = OpenAI()


def ask(question):
    completion = client.chat.completions.create(
        model="gpt-4o-mini",
        messages=[{{"role": "user", "content": question}}],
    )
    {LINK}

if __name__ == "__main__":
    ask("Why?")
'''


def _install(packages: tuple[str, ...], target: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    subprocess.run([*command, "--target", str(target), *packages], check=True)


def _ready(tree: Path) -> None:
    """A tree is a project of its own, so that nothing around it is read along."""
    (tree / "pyproject.toml").write_text("", encoding="utf-8")


def files(tree: Path) -> list[Path]:
    return sorted(tree.rglob("*.py"))


def sample(tree: Path, cache: Path, every: int) -> Path:
    """A copy of every so-manieth file, for tools that would take hours."""
    target = cache / f"{tree.name}_each{every}"
    if not target.exists():
        for path in files(tree)[::every]:
            copy = target / path.relative_to(tree)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        _ready(target)
    return target
