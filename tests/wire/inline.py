"""Run a program inside this process: milliseconds instead of a second, for thousands of programs.

For programs that end, change nothing outside their own modules and write no files; others are for
``harness.run_program``.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import io
import os
import ssl
import sys
import traceback
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unittest import mock

from .harness import Run, open_session


def run_inline(sources: Mapping[str, bytes], script: Mapping[str, Any]) -> Run:
    """What ``main.py`` of ``sources`` shows and asks for, played against ``script``."""
    with open_session(script) as session:
        env = {"OPENAI_BASE_URL": f"{session.url}/v1", "OPENAI_API_KEY": "sk-test"}
        output, errors = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, env),
            _modules(sources),
            _no_certificates(),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(errors),
        ):
            exit_code = _exec(sources["main.py"])
        shown = (output.getvalue(), errors.getvalue())
        return Run(*shown, exit_code, session.requests, session.refused, session.unplayed)


def _exec(source: bytes) -> int:
    """Run ``source`` as the main program; its exit code."""
    program = types.ModuleType("__main__")
    own, sys.modules["__main__"] = sys.modules["__main__"], program
    try:
        exec(compile(source, "main.py", "exec", dont_inherit=True), program.__dict__)
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        sys.modules["__main__"] = own
    return 0


@contextlib.contextmanager
def _modules(sources: Mapping[str, bytes]) -> Iterator[None]:
    """Make the other files of a program importable, and forget them afterwards."""
    import openai

    finder = _Finder(sources)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in finder.names:
            sys.modules.pop(name, None)
        openai._reset_client()


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports modules from texts in memory."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._sources = {name.removesuffix(".py"): data for name, data in sources.items()}
        self.names = self._sources.keys() - {"main"}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self) if name in self.names else None

    def exec_module(self, module: types.ModuleType) -> None:
        code = compile(self._sources[module.__name__], f"{module.__name__}.py", "exec", dont_inherit=True)
        exec(code, module.__dict__)


@contextlib.contextmanager
def _no_certificates() -> Iterator[None]:
    """Reading the certificates takes a client longer than all else, and the server speaks plain HTTP."""
    with (
        mock.patch.object(ssl.SSLContext, "load_verify_locations"),
        mock.patch.object(ssl.SSLContext, "load_default_certs"),
    ):
        yield
