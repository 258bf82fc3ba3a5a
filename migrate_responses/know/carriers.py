"""Objects of libraries that carry what the project gives them: fields with defaults, proxies, namespaces."""

from __future__ import annotations

from . import models
from .graph import Var
from .kinds import Class, Client, Const, External, Instance, Invocation, Value
from .loading import Loading

# Declarations of a field. Its default is given by name; of some of them also as the first argument.
_FIELDS = frozenset(
    {
        *("dataclasses.field", "attrs.field", "attr.field", "attr.ib", "attr.attrib", "sqlmodel.Field"),
        *("pydantic.Field", "pydantic.fields.Field", "pydantic.PrivateAttr", "pydantic.fields.PrivateAttr"),
    }
)
_FACTORIES = frozenset({"factory", "default_factory"})
# They stand for what a function gives when it is first asked for.
_LAZY = frozenset(
    {
        *("attr.Factory", "attrs.Factory", "django.utils.functional.SimpleLazyObject"),
        *("lazy_object_proxy.Proxy", "werkzeug.local.LocalProxy", "wrapt.LazyObjectProxy"),
    }
)
_CHOICES = frozenset({"random.choice", "secrets.choice"})
_NAMESPACES = frozenset({"types.SimpleNamespace", "argparse.Namespace"})


class Carriers(Loading):
    """What comes out of such objects."""

    def carry(self, path: str, call: Invocation) -> bool:
        """Give what is carried by what ``path`` makes; whether that is all there is to say of ``path``."""
        first = next((item.var for item in call.arguments if item.keyword is None), None)
        if path in _FIELDS:
            self._default(path, first, call)
        elif path in _LAZY and first is not None:
            self.run_in(call, first, [], call.result)
        elif path in _CHOICES and first is not None:
            self.spread(first, call.result)
        elif path.endswith((".enter_context", ".enter_async_context")) and first is not None:
            self.solver.watch(first, lambda value: self.enter_context(value, call.result))
        elif path == "builtins.object.__new__" and first is not None:
            self.solver.watch(first, lambda value: self._instance(value, call.result))
        elif path in models.REPLACERS and first is not None:
            self._replaced(first, call)
        elif path == "builtins.object.__setattr__" and len(call.arguments) > 2:
            self.set_by_name(call)
        else:
            if path in _NAMESPACES:
                self._namespace(path, call)
            return False
        return True

    def _default(self, path: str, first: Var | None, call: Invocation) -> None:
        if first is not None and path.endswith("Field"):
            self.solver.flow_if(first, call.result, lambda value: not isinstance(value, External))
        for item in call.arguments:
            if item.keyword == "default":
                self.solver.flow(item.var, call.result)
            elif item.keyword in _FACTORIES:
                self.run_in(call, item.var, [], call.result)

    def _instance(self, value: Value, target: Var) -> None:
        if isinstance(value, Class):
            self.solver.add(target, [value.instance])

    def _replaced(self, first: Var, call: Invocation) -> None:
        self.solver.flow(first, call.result)
        for item in call.arguments:
            if item.keyword not in (None, "*", "**"):
                self._set_field(first, item.keyword, item.var)

    def _set_field(self, owners: Var, name: str, value: Var) -> None:
        def on(owner: Value) -> None:
            if isinstance(owner, Instance):
                self.solver.flow(value, self.instance_field(owner, name))

        self.solver.watch(owners, on)

    def set_by_name(self, call: Invocation) -> None:
        """``setattr(owner, "name", value)``, or ``object.__setattr__`` with the same."""
        owner, key, value = call.arguments[:3]

        def on(found: Value) -> None:
            if isinstance(found, Const) and isinstance(found.value, str):
                name = found.value
                self.solver.watch(owner.var, lambda item: self.store_member(item, name, call.node, value.var))

        self.solver.watch(key.var, on)

    def _namespace(self, path: str, call: Invocation) -> None:
        """The clients among the fields of a namespace; whatever else it holds is not told apart."""
        made = External(path).step("()")
        for item in call.arguments:
            if item.keyword not in (None, "*", "**"):
                slot = self.external_field(made, str(item.keyword))
                self.solver.flow_if(item.var, slot, lambda value: isinstance(value, Client))
