"""Run the tool over packages of PyPI, and check its promises as ``field_report`` does.

    python tools/field_packages.py FOLDER [--list FILE] [--diff-dir OUT] [--only NAME]

The wheels of ``field_packages.txt`` are downloaded with pip, without their dependencies. Their Python files
are unpacked into FOLDER, where they stay for the next time. Nothing of them is built, imported or run.
Prints a line for each package in which there are calls, what all come to, and what must be looked at.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import run

from field_report import Report, examine, row, show

from migrate_responses.config import Settings
from migrate_responses.find.project import find

LIST = Path(__file__).with_suffix(".txt")
KEPT = (".py", ".pyw", ".ipynb")


def wanted(path: Path) -> Iterator[str]:
    """The requirements in a list: ``name==version``, or a name alone for the newest."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if requirement := line.partition("#")[0].strip():
            yield requirement


def fetched(requirement: str, folder: Path) -> Path:
    """Where the Python files of a package are; downloaded unless they are there.

    Raises ``LookupError`` if pip finds no wheel.
    """
    name, _, version = requirement.partition("==")
    known = sorted(folder.glob(f"{name}=={version or '*'}"))
    if known:
        return known[-1]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        command = [sys.executable, "-m", "pip", "-q", "download", "--no-deps", "--only-binary=:all:"]
        done = run([*command, "-d", place, requirement], capture_output=True, text=True, check=False)
        wheels = sorted(Path(place).glob("*.whl"))
        if done.returncode or not wheels:
            raise LookupError(" ".join(done.stderr.strip().splitlines()[-1:]) or "no wheel")
        target = folder / f"{name}=={wheels[0].name.split('-')[1]}"
        target.mkdir()
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(target, [one for one in wheel.namelist() if one.endswith(KEPT)])
    return target


def passed_over(folder: Path) -> Iterator[str]:
    """What names Chat Completions and is not among the files that a run reads."""
    (project,) = find([str(folder)])
    for path in contents(folder):
        name = path.relative_to(folder).as_posix()
        if name not in project.sources and re.search(rb"chat\s*\.\s*completions", path.read_bytes()):
            yield f"{name}: not read"


def contents(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in KEPT and path.is_file()]


def size(folder: Path) -> tuple[int, int]:
    """How many files with Python a package holds, and their bytes."""
    found = contents(folder)
    return len(found), sum(path.stat().st_size for path in found)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--list", type=Path, default=LIST)
    parser.add_argument("--diff-dir", type=Path, metavar="OUT", help="write one .diff for each package there")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--unsafe-fixes", action="store_true")
    parser.add_argument("--assume-responses", action="append", default=[], metavar="VALUE")
    options = parser.parse_args(argv)
    options.folder.mkdir(parents=True, exist_ok=True)
    settings = Settings(
        unsafe_fixes=options.unsafe_fixes,
        assume_responses=frozenset(options.assume_responses),
        packaged=True,  # a wheel says so no more in a file of its own
    )
    reports: list[Report] = []
    files = total = 0
    for requirement in wanted(options.list):
        if options.only and requirement.partition("==")[0] not in options.only:
            continue
        try:
            package = fetched(requirement, options.folder)
        except LookupError as error:
            reports.append(Report(requirement, problems=[f"not fetched: {error}"]))
            continue
        count, length = size(package)
        files, total = files + count, total + length
        report = examine(package.name, str(package), settings, True)
        report.problems += passed_over(package)
        reports.append(report)
        print("  ".join(row(report)), *report.problems, sep="\n  ", file=sys.stderr, flush=True)
        if options.diff_dir is not None and report.diff:
            options.diff_dir.mkdir(parents=True, exist_ok=True)
            (options.diff_dir / f"{package.name}.diff").write_bytes(report.diff)
    with_calls = [one for one in reports if one.verdicts or one.spelled or one.problems or one.warnings]
    print(show(with_calls, options.markdown))
    print(f"\n{len(reports)} packages, {files:,} files, {total / 1e6:,.0f} MB of Python")
    return 1 if any(report.problems for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
