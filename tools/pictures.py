"""Take the pictures of the README anew: the program on a terminal, and its report in a browser.

    python tools/pictures.py [terminal] [report]

Run it from an environment that has the project in it. The report needs a Chromium, or its path in CHROMIUM.
"""

from __future__ import annotations

import io
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from rich._export_format import CONSOLE_SVG_FORMAT  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.text import Text  # noqa: E402

from tests import browser  # noqa: E402
from tests.terminal import Terminal  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
COLUMNS, LINES = 118, 31
WIDTH, HEIGHT, SCALE = 1120, 1060, 1

# The fixtures whose code stands for that of an application, by concern, and who is to own them.
CONCERNS = {
    "answers": "@acme/assistant",
    "requests": "@acme/assistant",
    "streams": "@acme/web",
    "toolloops": "@acme/agents @acme/platform",
    "endpoints": "@acme/platform",
    "structured": "",
}
EACH = 14


def terminal() -> None:
    """The end of what ``diff`` shows, as a terminal would after it ran."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        shown = Terminal("diff", "examples/", cwd=Path(folder), columns=COLUMNS)
        shown.end()
    # The sign of life goes back to the start of its line and is overwritten.
    lines = [line.rpartition("\r")[2] for line in shown.seen.replace("\r\n", "\n").split("\n")]
    console = Console(
        record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="standard"
    )
    for line in lines[-LINES:]:
        console.print(Text.from_ansi(line), soft_wrap=True)
    svg = console.export_svg(
        title="migrate-responses diff examples/", code_format=_without_fonts(), unique_id="terminal"
    )
    (PICTURES / "terminal.svg").write_text(svg, encoding="utf-8")


def _without_fonts() -> str:
    """Rich's frame, with the reader's own font in place of one from elsewhere."""
    frame = re.sub(r"@font-face \{\{.*?\n    \}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return frame.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")


def report() -> None:
    """The page, light and dark, with one call opened."""
    path = browser.find()
    if path is None:
        sys.exit("There is no Chromium here; name one in CHROMIUM.")
    with tempfile.TemporaryDirectory() as folder, browser.Browser(path) as window:
        project = Path(folder) / "acme-assistant"
        _project(project)
        page = project / "report.html"
        shown = Terminal("report", "--format", "html", "--output", page.name, "--quiet", cwd=project)
        if shown.end():
            sys.exit(shown.plain)
        window.size(WIDTH, HEIGHT, SCALE)
        for name, scheme in (("report", "light"), ("report-dark", "dark")):
            window.prefer(scheme)
            window.open(page.as_uri())
            window.press("j", "Enter")
            window.until("document.querySelector('.diff')")
            window.value("document.activeElement.blur(), scrollTo(0, 0)")
            (PICTURES / f"{name}.png").write_bytes(window.picture())


def _project(folder: Path) -> None:
    """A project made of fixtures."""
    for concern in CONCERNS:
        (folder / concern).mkdir(parents=True)
        cases = sorted((ROOT / "fixtures" / concern).glob("*/before.py"))
        for case in cases[:: max(1, len(cases) // EACH)]:
            shutil.copyfile(case, folder / concern / f"{case.parent.name}.py")
    rules = (f"{concern}/ {owners}\n" for concern, owners in CONCERNS.items())
    (folder / "CODEOWNERS").write_text("".join(rules), encoding="utf-8")
    (folder / ".git").mkdir()


if __name__ == "__main__":
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or ("terminal", "report"):
        {"terminal": terminal, "report": report}[name]()
