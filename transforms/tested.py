"""Which calls a test file is about: those of the modules that it imports or patches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import libcst as cst

from ..decide.mixed import is_fake
from ..decide.receivers import MOCKS, in_tests
from ..know import modules as syntax
from ..know.kinds import Client, External, Resource, Site, Value
from ..know.modules import Module
from .context import Context
from .snippets import entry
from .test_reach import Reach, leads_to

# Questions about all arguments of a call at once.
ASSERTS = frozenset(
    f"assert_{name}"
    for name in "called_with called_once_with any_call has_calls awaited_with awaited_once_with any_await"
    " has_awaits".split()
)
# What a test of such a call may hold: the old API by name, its answers, what a mock recorded, recordings.
_MENTIONS = re.compile(
    r"completions|choices|ChatCompletion|(call|await)_args|[\"'](messages|max_(completion_)?tokens)[\"']"
    r"|\b(vcr|cassette)"
    r"|(setattr|object)\([^()\n]*[\"']chat[\"']|patch\(\s*[\"'][\w.]+\.chat[\"']"
    r"|OPENAI_BASE_URL|openai\.(resources|types)|\b__getattr(ibute)?__"
)
# Patches that every call in the project meets, whichever module makes it.
_EVERYWHERE = re.compile(
    r"openai\.(Async)?(Azure)?OpenAI\b|openai\.resources|chat/completions|\b(vcr|cassette|respx)\b"
)


def observed(context: Context, site: Site) -> bool:
    """Whether a test looks at the messages that ``site`` sends: then they stay a list."""
    return any(site in sites and _reads_messages(module) for module, sites in tested(context).items())


def is_tested(context: Context, site: Site) -> bool:
    """Whether a test file that mentions the old API is about ``site``."""
    return any(site in sites for sites in tested(context).values())


def tested(context: Context) -> dict[Module, list[Site]]:
    """The test modules that mention the old API, with the calls they are about."""
    found = context.memo.get("tested")
    if found is None:
        found = context.memo["tested"] = {
            module: _sites(context, module)
            for module in context.project.modules
            if is_test(module) and _concerns(context, module)
        }
    assert isinstance(found, dict)
    return found


def is_test(module: Module) -> bool:
    """Whether ``module`` is test code."""
    return in_tests(module)


def is_of_tests(context: Context, value: Value) -> bool:
    """Whether tests alone make what ``value`` is."""
    if not is_fake(value):
        return False
    if not isinstance(value, External) or value.path.startswith(MOCKS):
        return True
    word = "SimpleNamespace" if "SimpleNamespace" in value.path else "types.chat"
    return not any(word in module.text for module in context.project.modules if not is_test(module))


def _concerns(context: Context, module: Module) -> bool:
    return bool(_MENTIONS.search(module.text))


def _sites(context: Context, module: Module) -> list[Site]:
    """The calls in the modules that a test imports or patches, and on the clients it has in hand.

    Where there are none, or the SDK itself is patched: in what those modules import, too.
    """
    near = _named(context, module)
    wide = any(_EVERYWHERE.search(other.text) for other in [module, *_helpers(context, module)])
    held = _clients(context, module)
    found = [site for site in context.sites if held.intersection(site.clients) and site.module is not module]
    while True:
        sites = [site for site in context.sites if site.module in near and site.module is not module]
        wider = near | {other for one in near for other in _imported(context, one)}
        if (sites and not wide) or wider == near:
            return list(dict.fromkeys([*sites, *found]))
        near = wider


def at(context: Context, module: Module, node: cst.CSTNode) -> list[Site]:
    """Those of the calls that the test file ``module`` is about which the test around ``node`` can reach.

    What a helper or a fixture does is about the calls of all tests that come to it.
    """
    everything = tested(context).get(module, [])
    if len(everything) < 2:
        return everything
    unit = node
    for parent in module.ancestors(node):
        if isinstance(parent, cst.Module):
            break
        unit = parent
    known = context.memo.setdefault("test units", {})
    assert isinstance(known, dict)
    found = known.get(unit)
    if found is None:
        names = _names_from(context, module, unit)
        found = [site for site in everything if names is None or leads_to(context, names, site)] or everything
        known[unit] = found
    assert isinstance(found, list)
    return found


def _names_from(context: Context, module: Module, unit: cst.CSTNode) -> set[str] | None:
    """The names on the ways from one statement of a test file, and of the tests that use what it defines."""
    own = {unit.name.value} if isinstance(unit, (cst.FunctionDef, cst.ClassDef)) else syntax.bound_in([unit])
    if not own:
        return None
    reach = _reach(context, module)
    found = reach.from_([unit])
    if any(name.startswith(("test", "Test")) or name.endswith("Test") for name in own):
        return found
    users = [module, *_users(context, module)]
    others = (other for user in users for other in user.tree.body if other is not unit)
    users_of_it = reach.leading_to({*own, "autouse"}, others)
    return found | reach.from_(users_of_it) if users_of_it else found


def users_of(context: Context, module: Module, unit: cst.CSTNode) -> list[tuple[cst.CSTNode, Module]]:
    """The statements of test files from which a way leads to what ``unit``, one of ``module``, defines."""
    own = {unit.name.value} if isinstance(unit, (cst.FunctionDef, cst.ClassDef)) else syntax.bound_in([unit])
    reach = _reach(context, module)
    return [
        (found, user)
        for user in (module, *_users(context, module))
        for found in (
            reach.leading_to(own, (one for one in user.tree.body if one is not unit)) if own else ()
        )
    ]


def _users(context: Context, module: Module) -> list[Module]:
    """The test files that build on ``module``."""
    known = context.memo.get("test users")
    if known is None:
        found: dict[Module, list[Module]] = {}
        for other in filter(is_test, context.project.modules):
            for helper in _helpers(context, other):
                found.setdefault(helper, []).append(other)
        known = context.memo["test users"] = found
    assert isinstance(known, dict)
    return list(known.get(module, ()))


def _reach(context: Context, module: Module) -> Reach:
    known = context.memo.setdefault("reach", {})
    assert isinstance(known, dict)
    found = known.get(module)
    if found is None:
        tests = [module, *_helpers(context, module), *_users(context, module)]
        near = {other for test in tests for other in _mentioned(context, test)}
        stack = list(near)
        while stack:
            fresh = _imported(context, stack.pop()) - near
            near |= fresh
            stack += fresh
        found = known[module] = Reach(context, [one for one in near if not is_test(one)], tests)
    assert isinstance(found, Reach)
    return found


def _clients(context: Context, module: Module) -> set[Client]:
    """The clients of which a test names a part: ``bot.client.chat.completions``."""
    return {
        value.client
        for node in module.of(cst.Attribute)
        if node.attr.value in ("chat", "completions", "create", "parse")
        for value in context.project.values(node)
        if isinstance(value, Resource)
    }


def _named(context: Context, module: Module) -> set[Module]:
    """The modules that a test names, with those that the helpers it uses name."""
    found = _mentioned(context, module)
    for helper in _helpers(context, module):
        found |= _mentioned(context, helper)
    for other in _users(context, module):  # fakes are about what their users test
        found |= _mentioned(context, other)
    return {other for other in found if not is_test(other)} or found


def _mentioned(context: Context, module: Module) -> set[Module]:
    """What ``module`` imports, or names in a string as a patch does."""
    known = context.memo.setdefault("mentioned", {})
    assert isinstance(known, dict)
    found = known.get(module)
    if found is None:
        found = known[module] = _imported(context, module) | set(_in_strings(context, module))
    assert isinstance(found, set)
    return set(found)


def _in_strings(context: Context, module: Module) -> Iterable[Module]:
    for node in module.of(cst.SimpleString):
        text = node.evaluated_value
        if isinstance(text, str) and "." in text and len(text) < 200:
            parts = text.split(".")
            for end in range(len(parts) - 1, 0, -1):
                target = context.project.find_module(module, 0, ".".join(parts[:end]))
                if target is not None:
                    yield target
                    break


def _helpers(context: Context, module: Module) -> list[Module]:
    """The test code that a test file builds on: what it imports of it, and each conftest.py above."""
    imported = [other for other in _imported(context, module) if is_test(other)]
    return list(dict.fromkeys([*imported, *_conftests(context, module)]))


def _conftests(context: Context, module: Module) -> list[Module]:
    folder = module.path.rpartition("/")[0]
    known = context.memo.get("conftests")
    if known is None:
        known = context.memo["conftests"] = [
            other for other in context.project.modules if other.path.rpartition("/")[2] == "conftest.py"
        ]
    assert isinstance(known, list)
    return [
        other
        for other in known
        if other is not module and f"{folder}/".startswith(other.path.rpartition("/")[0])
    ]


def _imported(context: Context, module: Module) -> set[Module]:
    """The project modules that ``module`` imports."""
    known = context.memo.setdefault("imported", {})
    assert isinstance(known, dict)
    found = known.get(module)
    if found is None:
        found = known[module] = set(_imports(context, module))
    assert isinstance(found, set)
    return set(found)


def _imports(context: Context, module: Module) -> set[Module]:
    found: set[Module] = set()
    for node in module.of(cst.Import, cst.ImportFrom):
        found.update(imported_by(context, module, node))
    found.discard(module)
    return found


def imported_by(context: Context, module: Module, node: cst.CSTNode) -> Iterator[Module]:
    """The project modules that one import in ``module`` means."""
    names: list[tuple[int, str]] = []
    if isinstance(node, cst.ImportFrom):
        head = syntax.dotted(node.module) if node.module is not None else ""
        prefix = f"{head}." if head else ""
        names.append((len(node.relative), head))
        if not isinstance(node.names, cst.ImportStar):
            names += [(len(node.relative), prefix + syntax.dotted(alias.name)) for alias in node.names]
    elif isinstance(node, cst.Import):
        names = [(0, syntax.dotted(alias.name)) for alias in node.names]
    for level, name in names:
        target = context.project.find_module(module, level, name)
        if target is not None:
            yield target


def _reads_messages(module: Module) -> bool:
    for node in module.of(cst.Subscript, cst.Call, cst.Param, cst.ComparisonTarget, cst.Comparison):
        match node:
            case cst.ComparisonTarget(comparator=side) | cst.Comparison(left=side) if isinstance(
                side, (cst.Dict, cst.List, cst.Tuple)
            ):
                if any(entry(whole, "messages") is not None for whole in _dicts(side)):
                    return True
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=name)), args=args) if name.startswith(
                ("assertEqual", "assertDict", "assertList", "assertSequence")
            ):
                if any(entry(whole, "messages") for arg in args for whole in _dicts(arg.value)):
                    return True
            case cst.Param(name=cst.Name(value="messages")):
                return True
            case cst.Call(func=cst.Attribute(attr=attr)) if attr.value in ASSERTS:
                if any(arg.keyword is not None and arg.keyword.value == "messages" for arg in node.args):
                    return True
            case _:
                if key_asked(node) == "messages":
                    return True
    return False


def _dicts(node: cst.BaseExpression) -> list[cst.Dict]:
    """The dict that an expression is, or the dicts in a list of such."""
    if isinstance(node, (cst.List, cst.Tuple)):
        return [found for element in node.elements for found in _dicts(element.value)]
    return [node] if isinstance(node, cst.Dict) else []


def key_asked(node: cst.CSTNode) -> str | None:
    """The constant key of a subscript or a ``.get``."""
    match node:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            text = key.evaluated_value
        case cst.Call(
            func=cst.Attribute(attr=cst.Name(value="get" | "pop" | "setdefault")),
            args=[cst.Arg(value=cst.SimpleString() as key), *_],
        ):
            text = key.evaluated_value
        case _:
            return None
    return text if isinstance(text, str) else None
