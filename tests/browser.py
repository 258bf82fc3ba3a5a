"""A headless Chromium, driven through its own protocol over a pipe: no driver, no package, no port.

Clicks and keys are those of a person: they go where the mouse is, and to what has the focus.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_PATIENCE = 60.0  # seconds; machines that test are busy
# The browser reads commands from file 3 and answers on file 4.
_LAUNCH = """\
import fcntl, os, sys
ours = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
os.dup2(ours[0], 3)
os.dup2(ours[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "ArrowDown": (40, ""), "ArrowUp": (38, ""), "Tab": (9, "")}


def find() -> str | None:
    """The path of a Chromium, if this machine has one that can be driven."""
    if os.name != "posix":
        return None
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, _NAMES)), None)


class Failure(Exception):
    """The browser did not do what it was told."""


class Browser:
    """One browser with one page, and a profile of its own that goes with it."""

    def __init__(self, path: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="browser-")
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        flags = [
            *_FLAGS,
            f"--user-data-dir={self._profile}",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
        ]
        words = [sys.executable, "-c", _LAUNCH, str(commands), str(answers), path, *flags, "about:blank"]
        self._process = subprocess.Popen(
            words,
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._numbers = itertools.count(1)
        self._unread = b""
        self._session: str | None = None
        self.requests: list[str] = []
        self.complaints: list[str] = []

    def __enter__(self) -> Browser:
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        self.size(1300, 900)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session = None
        with contextlib.suppress(Failure):
            self.call("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command of the protocol and wait for what it gives."""
        number = next(self._numbers)
        command: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            command["sessionId"] = self._session
        try:
            os.write(self._to, json.dumps(command).encode() + b"\0")
        except BrokenPipeError as error:
            raise Failure(f"{method}: the browser went away") from error
        for message in self._messages():
            if message.get("id") == number:
                if "error" in message:
                    raise Failure(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result
        raise Failure(f"{method}: the browser went away")

    def _messages(self) -> Iterator[dict[str, Any]]:
        until = time.monotonic() + _PATIENCE
        while True:
            message, end, rest = self._unread.partition(b"\0")
            if not end:
                if not select.select([self._from], [], [], max(0.0, until - time.monotonic()))[0]:
                    raise Failure("the browser does not answer")
                read = os.read(self._from, 1 << 20)
                if not read:
                    return
                self._unread += read
                continue
            self._unread = rest
            event = json.loads(message)
            self._note(event)
            yield event

    def _note(self, event: dict[str, Any]) -> None:
        method, given = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(given["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.complaints.append(given["entry"]["text"])

    # What a person does.

    def open(self, url: str) -> None:
        """Load a page anew, and wait until it has run its script."""
        self.call("Page.navigate", url="about:blank")
        self.requests.clear()
        self.complaints.clear()
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def click(self, selector: str) -> None:
        """Press the mouse in the middle of the first element that ``selector`` finds and that is shown."""
        spot = self.value(
            f"""(() => {{
                const shown = [...document.querySelectorAll({json.dumps(selector)})]
                    .find((element) => element.checkVisibility());
                if (!shown) return null;
                shown.scrollIntoView({{block: "center"}});
                const box = shown.getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2];
            }})()"""
        )
        if spot is None:
            raise Failure(f"nothing to click at {selector}")
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=spot[0], y=spot[1], button="left", clickCount=1
            )

    def press(self, *keys: str) -> None:
        """Press keys one after the other, by their names."""
        for key in keys:
            code, text = _KEYS.get(key, (ord(key[0].upper()), key))
            given = {"key": key, "windowsVirtualKeyCode": code}
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **given)
            self.call("Input.dispatchKeyEvent", type="keyUp", **given)

    def size(self, width: int, height: int, scale: float = 1) -> None:
        """Make the window as large."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    def prefer(self, scheme: str) -> None:
        """Ask pages for a ``light`` or ``dark`` look, as the system of the reader would."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    # What a person sees.

    def value(self, expression: str) -> Any:
        """What an expression comes to on the page."""
        given = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
            allowUnsafeEvalBlockedByCSP=False,  # the page's policy holds for what is asked here, too
        )
        if "exceptionDetails" in given:
            raise Failure(str(given["exceptionDetails"]))
        return given["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait for an expression to hold."""
        end = time.monotonic() + _PATIENCE
        while not self.value(f"!!({expression})"):
            if time.monotonic() > end:
                raise Failure(f"in vain: {expression}")
            time.sleep(0.02)

    def text(self, selector: str) -> str:
        """The text that is shown of the first element that ``selector`` finds."""
        return str(self.value(f"document.querySelector({json.dumps(selector)}).innerText"))

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that ``selector`` finds and that are shown."""
        found: list[str] = self.value(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            ".filter((element) => element.checkVisibility()).map((element) => element.innerText.trim())"
        )
        return found

    def picture(self) -> bytes:
        """What the window shows, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def paper(self) -> bytes:
        """The page as it is printed, as PDF."""
        return base64.b64decode(self.call("Page.printToPDF")["data"])
