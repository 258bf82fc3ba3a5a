"""Small programs given as text, known to the engine."""

from __future__ import annotations

import libcst as cst

from migrate_responses.know.modules import Module, module_name, scan
from migrate_responses.know.project import Project


def project(*, assume: tuple[str, ...] = (), **sources: str) -> Project:
    """What is known of the modules ``name=source``; two underscores in a name are a folder."""
    modules = []
    for name, source in sources.items():
        path = f"{name.replace('__', '/')}.py"
        dotted, is_package = module_name(path)
        module = Module(path, dotted, cst.parse_module(source), is_package, source)
        scan(module)
        modules.append(module)
    known = Project(modules)
    known.assume(frozenset(assume))
    known.solve()
    return known
