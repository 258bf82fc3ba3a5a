"""Run the tool over packages as they are found in the wild, and check its promises without its own code.

    python tools/field_report.py [--markdown] [--diff-dir OUT] [options of a run] DIR...

Nothing is written to the packages. Exit status: 0 if every promise holds, 1 otherwise; warnings are
heuristic, for a person to read.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from field_checks import Findings, check

from migrate_responses.config import Settings
from migrate_responses.find.project import find
from migrate_responses.find.roots import is_packaged
from migrate_responses.results import Results, Verdict
from migrate_responses.run import migrate
from migrate_responses.show.patch import patch

SECONDS = 600
HEAD = "package files spelled sites migrated unsafe manual left seconds held-back-by"
VERDICTS = (Verdict.MIGRATED, Verdict.UNSAFE, Verdict.MANUAL)


@dataclass
class Report:
    """What one package gave."""

    package: str
    seen: int = 0
    spelled: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    diff: bytes = b""

    def add(self, results: Results, findings: Findings) -> None:
        """Count one run in. A package that holds several projects has several."""
        self.spelled += findings.spelled
        self.problems += findings.problems
        self.warnings += findings.warnings
        for site in results.sites:
            self.verdicts[site.verdict] += 1
            if site.verdict in (Verdict.UNSAFE, Verdict.MANUAL):
                self.held.update({why.code for why in site.reasons} or {"none"})


@contextlib.contextmanager
def deadline(seconds: int) -> Iterator[None]:
    """Raise ``TimeoutError`` in the body after ``seconds`` of processor, where the platform can.

    Time on the clock would tell of what else the machine does.
    """

    def give_up(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"no result after {seconds} s of processor")

    if not hasattr(signal, "SIGPROF"):
        yield
        return
    previous = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def examine(package: str, directory: str, settings: Settings, with_diff: bool) -> Report:
    """Run the engine on one directory as the command line would, and check what comes back."""
    report = Report(package)
    try:
        with deadline(SECONDS):
            settings = dataclasses.replace(settings, packaged=settings.packaged or is_packaged(directory))
            for project in find([directory]):
                report.seen += project.seen
                start = time.process_time()
                results = migrate(project.sources, settings, project.writable)
                report.seconds += time.process_time() - start
                report.add(results, check(project.sources, results, settings))
                if with_diff:
                    report.diff += b"".join(
                        line for file in results.changed for line in patch(file.path, file.before, file.after)
                    )
    except Exception as error:  # whatever happens to one package is a finding about it
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(last.filename)}:{last.lineno} in {last.name}"
        report.problems.append(f"crash: {type(error).__name__}: {error} ({place})")
    return report


def row(report: Report) -> list[str]:
    counts = [report.verdicts[verdict] for verdict in VERDICTS]
    left = sum(report.verdicts[one] for one in (Verdict.LEFT, Verdict.SKIPPED, Verdict.DOUBLE))
    held = " ".join(f"{code}:{count}" for code, count in report.held.most_common())
    numbers = (report.seen, report.spelled, report.verdicts.total(), *counts, left)
    return [report.package, *map(str, numbers), f"{report.seconds:.1f}", held]


def total(reports: Sequence[Report]) -> Report:
    whole = Report("all")
    for report in reports:
        whole.seen += report.seen
        whole.spelled += report.spelled
        whole.seconds += report.seconds
        whole.verdicts.update(report.verdicts)
        whole.held.update(report.held)
    return whole


def show(reports: Sequence[Report], markdown: bool) -> str:
    """The table, then what must be fixed, then what must be read."""
    rows = [HEAD.split(), *(row(report) for report in reports), row(total(reports))]
    widths = [max(len(line[column]) for line in rows) for column in range(len(rows[0]))]
    if markdown:
        rows.insert(1, ["---", *["---:"] * 8, "---"])
        text = [f"| {' | '.join(line)} |" for line in rows]
    else:
        text = [
            "  ".join(
                cell.ljust(width) if column in (0, 9) else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in rows
        ]
    for title, attribute in (("Problems", "problems"), ("Warnings", "warnings")):
        found = [(report.package, one) for report in reports for one in getattr(report, attribute)]
        text += ["", f"{'## ' if markdown else ''}{title}: {len(found)}", ""]
        text += [f"{'- ' if markdown else ''}{package}: {one}" for package, one in found]
    return "\n".join(text)


def arguments() -> argparse.ArgumentParser:
    """The options of this script, and one for each setting of a run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directories", nargs="+", metavar="DIR", help="a package")
    parser.add_argument("--each", action="store_true", help="each directory inside DIR is a package")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--diff-dir", type=Path, metavar="OUT", help="write one .diff for each package there")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)")
    for setting in dataclasses.fields(Settings):
        option = "--" + setting.name.replace("_", "-")
        if isinstance(setting.default, bool):
            parser.add_argument(option, action="store_true")
        elif isinstance(setting.default, frozenset):
            parser.add_argument(option, action="append", default=[], metavar="VALUE")
        else:
            parser.add_argument(option, default=setting.default, metavar="VALUE")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    options = arguments().parse_args(argv)
    chosen: dict[str, Any] = {one.name: getattr(options, one.name) for one in dataclasses.fields(Settings)}
    chosen.update({name: frozenset(value) for name, value in chosen.items() if isinstance(value, list)})
    settings = Settings(**chosen)
    directories = [Path(directory) for directory in options.directories]
    if options.each:
        directories = sorted(inner for outer in directories for inner in outer.iterdir() if inner.is_dir())
    with ProcessPoolExecutor(options.jobs) as pool:
        futures = [
            pool.submit(examine, directory.name, str(directory), settings, options.diff_dir is not None)
            for directory in directories
        ]
        reports = []
        for directory, future in zip(directories, futures, strict=True):
            try:
                reports.append(future.result())
            except Exception as error:  # a worker that died, not a failing package: that one reports itself
                reports.append(Report(directory.name, problems=[f"crash: {type(error).__name__}: {error}"]))
    if options.diff_dir is not None:
        options.diff_dir.mkdir(parents=True, exist_ok=True)
        for report in reports:
            (options.diff_dir / f"{report.package}.diff").write_bytes(report.diff)
    print(show(reports, options.markdown))
    return 1 if any(report.problems for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
