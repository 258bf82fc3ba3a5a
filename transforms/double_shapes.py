"""Doubles of answers in tests (MR802): namespaces and mocks with ``choices``, and real ``ChatCompletion``s.

The response, its choice and its message are one object now, so a double of a message is a double of the
response: ``SimpleNamespace(choices=[SimpleNamespace(message=m)])`` is ``m``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

import libcst as cst

from ..decide.plan import Apply, Replacement
from ..know import modules as syntax
from ..know.kinds import Const, External, Kind, Site
from ..know.modules import Module
from . import double_answers, double_chunks, double_dicts, double_names, double_routes, double_specs
from .context import Context
from .double_attributes import Attributes
from .double_callers import own_fields
from .double_calls import Calls
from .double_edits import (
    USAGE,
    is_empty,
    its_line,
    lone_message,
    no_choices,
    only,
    or_empty,
    rename_keywords,
    to_message,
)
from .double_forms import NAMESPACE, Keywords, inside, is_bag, is_type, keywords_of, type_name, typed_dict
from .double_streams import Reads, chunk_of, event_of
from .double_trees import binding, written_out
from .history import is_fed
from .none_kept import is_kept
from .none_text import is_told, none_is_seen
from .snippets import spells_none
from .tested import at

_MOCKS = ("MagicMock", "Mock", "NonCallableMock")
_MAKERS = frozenset(
    {NAMESPACE, "argparse.Namespace"}
    | {
        f"{package}.{name}"
        for package in ("unittest.mock", "mock", "pytest_mock.MockerFixture()")
        for name in _MOCKS
    }
)


class Shapes:
    """The doubles of one test file."""

    def __init__(self, context: Context, module: Module, sites: list[Site]) -> None:
        self.context = context
        self.module = module
        self.sites = sites
        self.known: set[cst.CSTNode] = set()
        self.gone: set[cst.CSTNode] = set()  # lines that are taken away
        self.calls = Calls(self)
        self._trees: set[cst.Call] = set()  # doubles that are written out
        self._parts: dict[cst.CSTNode, Apply] = {}
        parts = [part for site in sites for part in context.parts(site)]
        kinds = {kind for _, _, kinds in parts for kind in kinds}
        self.kinds = kinds
        # Whether the code looks at the output items, which a bare double would not have.
        self.reads_output = bool(
            kinds & {Kind.REFUSAL, Kind.TOOL_CALLS, Kind.FUNCTION_CALL, Kind.FINISH}
        ) or any(is_fed(context, site) for site in sites)
        self.reads_finish = Kind.FINISH in kinds
        self.streams, self._streaming = self._read_of_streams()
        self._asking = {
            site
            for site in sites
            for node, module, found in context.parts(site)
            if Kind.CHOICES in found and isinstance(node, cst.BaseExpression) and self._is_asked(module, node)
        }
        self.tests_choices = bool(self._asking)

    def _read_of_streams(self) -> tuple[Reads, set[Site]]:
        """What the program reads of the streams that the tests are about; and the calls that make them."""
        read: dict[Site, set[Kind]] = {}
        for site in self.sites:
            kinds = {kind for _, _, kinds in self.context.parts(site) for kind in kinds}
            if Kind.CHUNK in kinds:
                read[site] = kinds
        counting = [site for site, kinds in read.items() if Kind.USAGE in kinds]
        asks = all(self.context.request(site).passes("stream_options") for site in counting)
        has_tools = any(self.context.request(site).passes_tools for site in read)
        return Reads(frozenset(kind for kinds in read.values() for kind in kinds), asks, has_tools), set(read)

    def _is_asked(self, module: Module, node: cst.BaseExpression) -> bool:
        """Whether it matters if there are choices at all: the new code asks ``output`` then."""
        return not isinstance(module.parents.get(node), cst.Subscript)

    def asks_choices(self, node: cst.CSTNode) -> bool:
        """Whether all calls that the test around ``node`` is about ask if there are choices."""
        return self._asking.issuperset(at(self.context, self.module, node))

    def plan(self) -> None:
        """Edit the doubles that are understood. To be asked when the calls in all test files are planned."""
        double_names.plan(self)
        for call in self.module.of(cst.Call):
            if "choices" in keywords_of(call):
                self._written_out(call)
        for call in self.module.of(cst.Call):
            if call not in self._trees and not self.gone.intersection(self.module.ancestors(call)):
                self._call(call)
        for call in self.module.of(cst.Call):
            if call not in self._trees and not self.gone.intersection(self.module.ancestors(call)):
                self._counts(call)
        double_routes.plan(self)
        double_chunks.plan(self)
        Attributes(self).plan()
        double_specs.plan(self)

    def edit(self, node: cst.CSTNode, apply: Apply) -> None:
        """An edit of a double, which is understood with it."""
        self.known.add(node)
        self.context.edit(node, self.module, at(self.context, self.module, node), apply, "MR802")

    def edit_part(self, node: cst.Call, apply: Apply) -> None:
        """An edit of a part of a double, which is also made where the double is put together anew."""
        self._parts[node] = apply
        self.edit(node, apply)

    def put_together(self, edit: Apply, tree: cst.Call) -> cst.CSTNode:
        """What ``edit`` makes of ``tree``, whose parts stood elsewhere or are set one by one."""
        tree = cst.ensure_type(self.with_parts(tree), cst.Call)
        found = edit(tree, tree)
        assert isinstance(found, cst.CSTNode)
        return found

    def with_parts(self, tree: cst.BaseExpression) -> cst.BaseExpression:
        """``tree`` with the edits of its parts."""
        for node in [inner for inner in syntax.walk(tree) if inner in self._parts]:
            made = self._parts[node](node, node)
            found = made if node is tree else tree.deep_replace(node, cast(cst.CSTNode, made))
            assert isinstance(found, cst.BaseExpression)
            tree = found
        return tree

    def _of_tree(self, node: cst.Call, tree: cst.Call, edit: Apply) -> Apply:
        """The edit of ``tree``, ``node`` with its parts written out, with what else changes in ``node``."""
        own = {id(arg.value): number for number, arg in enumerate(node.args)}

        def apply(original: cst.CSTNode, updated: cst.CSTNode) -> Replacement:
            assert isinstance(updated, cst.Call)
            args = [
                arg.with_changes(value=updated.args[own[id(arg.value)]].value)
                if id(arg.value) in own
                else arg
                for arg in tree.args
            ]
            return self.put_together(edit, tree.with_changes(args=args))

        return apply

    def remove(self, gone: Sequence[cst.CSTNode], beside: cst.CSTNode) -> None:
        """Take statements away; what is said above them is said above the one of ``beside``."""
        comments: list[cst.EmptyLine] = []
        for small in gone:
            line = self.module.parents[small]
            assert isinstance(line, cst.SimpleStatementLine)
            taken = its_line(self.module, small)
            self.known.update(syntax.walk(taken))
            self.gone.add(taken)
            self.edit(taken, lambda o, u: cst.RemovalSentinel.REMOVE)
            if taken is line and any(above.comment is not None for above in line.leading_lines):
                comments.extend(line.leading_lines)
        if comments:
            self.edit(self.module.statement(beside), _with_comments(comments))

    # -- objects made in one go ----------------------------------------------------------

    def maker(self, node: cst.CSTNode) -> str | None:
        """The path of what makes a double, if ``node`` calls such a thing with keywords only."""
        if not isinstance(node, cst.Call):
            return None
        if typed_dict(node) is not None:
            holder = self.module.parents.get(node)
            if isinstance(holder, cst.Call) and holder.func is node:
                return None  # the class of the double around it
            named = type_name(node)
            values = self.context.project.values(named) if named is not None else ()
            return NAMESPACE if any(map(is_type, values)) else None
        if any(arg.keyword is None for arg in node.args):
            return None
        for value in self.context.project.values(node.func):
            if is_bag(value):
                return NAMESPACE
            if isinstance(value, External) and (
                value.path in _MAKERS or value.path.startswith("openai.types.")
            ):
                return value.path
        return None

    def _call(self, node: cst.Call) -> None:
        if double_dicts.validated(self, node):
            return
        path = self.maker(node)
        if path is None:
            return
        keywords = keywords_of(node)
        if "choices" in keywords:
            self._response(node, path, keywords)
        elif "content" in keywords and self._is_lone_message(node, keywords):
            self.tell_none(keywords["content"], node)
            self.edit(node, lone_message(self.may_be_none(keywords["content"])))

    def _counts(self, node: cst.Call) -> None:
        """A double of usage; not one in an answer that is not understood, which stays whole."""
        path = self.maker(node)
        if path is None or not USAGE.keys() & keywords_of(node).keys():
            return
        around = [call for call in self.module.ancestors(node) if "choices" in keywords_of(call)]
        if not self.known.issuperset(around):
            return
        if path.startswith("openai.types."):
            double_answers.counted(self, node)
        else:
            self.edit_part(node, rename_keywords(USAGE))

    def _is_lone_message(self, node: cst.Call, keywords: Keywords) -> bool:
        """Whether a double is a message that a name holds: ``message = SimpleNamespace(content=...)``."""
        parent = self.module.parents.get(node)
        if (
            self.reads_output
            or not isinstance(parent, cst.Assign)
            or keywords.keys()
            - {
                "content",
                "role",
                "refusal",
                "function_call",
            }
        ):
            return False
        target = parent.targets[0].target
        return isinstance(target, cst.Name) and target.value in self._messages(node)

    def _messages(self, at: cst.CSTNode) -> set[str]:
        """The names that hold a message in the function around ``at``: ``message=name``."""
        scope = self.module.function(at) or self.module.tree
        found: set[str] = set()
        for node in syntax.walk(scope):
            match node:
                case cst.Arg(keyword=cst.Name(value="message"), value=cst.Name(value=name)):
                    found.add(name)
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value="message")))],
                    value=cst.Name(value=name),
                ):
                    found.add(name)
                case _:
                    continue
        return found

    def _written_out(self, node: cst.Call) -> None:
        """A double whose parts have names."""
        path = self.maker(node)
        tree = written_out(self.module, node, self.maker)
        if path is None or tree is None or not tree.gone or node in self.known:
            return
        if self._whole(node, tree.node, path):
            self._trees.add(node)
            self.remove(tree.gone, node)

    def _response(self, node: cst.Call, path: str, keywords: Keywords) -> None:
        choice = only(keywords["choices"])
        if self._is_chunk(node, keywords):
            self._chunk(node, node, path)
            return
        if choice is None and is_empty(keywords["choices"]) and not path.startswith("openai."):
            if not keywords.keys() - double_answers.RESPONSE_KEYS and self.asks_choices(node):
                self.known.update(inside(node))
                self.edit(node, no_choices)
            return
        message = keywords_of(choice).get("message") if choice is not None else None
        if choice is None or not isinstance(message, cst.Name) or message.value not in self._messages(node):
            self._whole(node, node, path)
        elif not keywords.keys() - {"choices"} and not keywords_of(choice).keys() - {"message", "index"}:
            self.known.update(inside(node))
            self.edit(node, to_message)

    def _whole(self, node: cst.Call, tree: cst.Call, path: str) -> bool:
        """``node``, which makes what ``tree`` does, becomes a response; tells whether all of it is known."""
        if self._is_chunk(node, keywords_of(tree)):
            return self._chunk(node, tree, path)
        edit = double_answers.response_of(self, tree, path)
        if edit is None:
            return False
        self.known.update(inside(node))
        for read in syntax.walk(tree):
            if read in self.module.parents:
                self._own_field(read)
        self.edit(node, edit if tree is node else self._of_tree(node, tree, edit))
        return True

    def _own_field(self, read: cst.CSTNode) -> None:
        """``self.finish_reason`` in a double that is understood: so is where the fake is given it."""
        for name, value in own_fields(self.module, read):
            self.known.add(name)
            function = self.module.function(value)
            given = syntax.parameters(function.params) if isinstance(function, cst.FunctionDef) else ()
            self.known.update(p.name for p in given if p.name.value == getattr(value, "value", None))

    def _chunk(self, node: cst.Call, tree: cst.Call, path: str) -> bool:
        """A chunk of a stream with its choice and its delta; tells whether all of it is known."""
        parts = chunk_of(keywords_of(tree))
        made = (parts.choice, parts.delta) if parts is not None else ()
        if parts is None or any(part is not None and self.maker(part) is None for part in made):
            return False
        edit = event_of(self, tree, self.streams, path)
        if edit is None:
            return False
        self.known.update(syntax.walk(node))
        self.edit(node, edit if tree is node else self._of_tree(node, tree, edit))
        return True

    def _is_chunk(self, node: cst.Call, fields: Keywords) -> bool:
        """Whether a double is one of a chunk: it has a delta, or no choices where all calls stream."""
        chunk = chunk_of(fields)
        if chunk is None or chunk.delta is not None:
            return chunk is not None
        return self.is_streamed(node)

    def is_streamed(self, node: cst.CSTNode) -> bool:
        """Whether all calls that the test around ``node`` is about make streams."""
        about = at(self.context, self.module, node)
        return bool(about) and self._streaming.issuperset(about)

    def needs(self, names: tuple[str, ...], node: cst.CSTNode) -> None:
        """Import what the double at ``node`` is made of now."""
        from .type_table import located

        for name in names:
            module, last = located(name)
            self.context.plan.need(
                self.module, module, last, at(self.context, self.module, node), "ChatCompletion"
            )

    def text(self, assign: cst.CSTNode | None) -> None:
        """The text that is set: the new answer has "" where the old had None."""
        if isinstance(assign, cst.Assign) and self.may_be_none(assign.value):
            self.tell_none(assign.value, assign)
            self.edit(assign.value, or_empty)

    def may_be_none(self, node: cst.BaseExpression | None) -> bool:
        """Whether the content of a double is None in some test."""
        if node is None:
            return False
        if any(
            isinstance(value, Const) and value.value is None for value in self.context.project.values(node)
        ):
            return True
        function = self.module.function(node)
        decorated = function.decorators if isinstance(function, cst.FunctionDef) else ()
        return isinstance(node, cst.Name) and any(
            re.search(
                rf"parametrize\b.*\b{node.value}\b.*\bNone\b", self.module.tree.code_for_node(item), re.S
            )
            for item in decorated
        )

    def tell_none(self, content: cst.BaseExpression | None, beside: cst.CSTNode) -> None:
        """A text that is None in a test holds back where the program keeps it as it is: it is "" now."""
        if content is None or not (spells_none(content) or self.may_be_none(content)):
            return
        sites = [
            site
            for site in at(self.context, self.module, beside)
            if self._is_kept(site) and not none_is_seen(self.context, site)
        ]
        if sites:
            detail = "the text of a double is None, which can be told from an empty one"
            self.context.unsafe(beside, self.module, sites, "MR803", detail)

    def _is_kept(self, site: Site) -> bool:
        """Whether the text is kept as it is; ``message.content or ""`` is not."""
        reads = [
            module.parents.get(node)
            for node, module in self.context.texts(site)
            if isinstance(node, cst.Attribute) and node.attr.value == "content"
        ]
        defaulted = [
            isinstance(parent, cst.BooleanOperation) and isinstance(parent.operator, cst.Or)
            for parent in reads
        ]
        return not (defaulted and all(defaulted)) and is_kept(self.context, site, is_told)

    def func_of(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What makes the double ``node``, which may be a name."""
        if isinstance(node, cst.Name):
            bound = binding(self.module, node)
            return self.func_of(bound.value) if bound is not None else None
        return node.func if isinstance(node, cst.Call) and self.maker(node) is not None else None


def _with_comments(comments: Sequence[cst.EmptyLine]) -> Apply:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        return updated.with_changes(leading_lines=[*comments, *getattr(updated, "leading_lines", ())])

    return apply
