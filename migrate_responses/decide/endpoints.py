"""Where a client's requests go, and whether that place is known to serve the Responses API."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from shlex import quote
from urllib.parse import SplitResult, urlsplit

import libcst as cst

from ..config import Settings
from ..know.kinds import Client, DictValue, Site
from ..know.modules import Module
from ..know.project import Project
from ..results import Level
from ..secrets import masked
from . import providers
from .ambient import Ambient
from .mixed import Others
from .origins import Origins
from .plan import Reason
from .urls import GAP, NOTHING, Text, Texts, writes

FIRST_VERSION = "2025-03-01"  # of Azure's preview API with Responses
_VERSION = re.compile(r"(\d{4}-\d{2}-\d{2})(-preview)?")
_CHAT_ONLY = re.compile(r".*-search-preview|.*-audio|gpt-audio")
# What is certain comes before what is only unknown.
_ORDER = ("MR024", "MR022", "MR020", "MR021", "MR023")


def judge(project: Project, client: Client, settings: Settings) -> Reason | None:
    """Why calls on ``client`` cannot move to Responses; None if its endpoint serves them."""
    return _judges(project).judge(client, settings)


def judge_site(project: Project, site: Site, settings: Settings) -> list[Reason]:
    """What speaks against ``site`` on account of its clients, its model, or what else it is called on."""
    judges = _judges(project)
    found: list[Reason] = []
    for client in site.clients:
        reason = judges.judge(client, settings, site)
        if reason is not None:
            found.append(reason)
    found.extend(judges.models(site, settings, bool(found)))
    found.extend(judges.others.reasons(site, settings))
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class _Fault:
    code: str
    detail: str
    node: cst.CSTNode | None = None  # where, if not at the client
    step: str = ""  # what to do, if the rule does not know it as well


class _Judges:
    """Judges the clients of one project; keeps what several of them need."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.origins = Origins(project)
        self.texts = Texts(project, self.origins)
        self.ambient = Ambient(project)
        self.others = Others(project, self.origins)

    def judge(self, client: Client, settings: Settings, site: Site | None = None) -> Reason | None:
        module = site.module if site is not None and client.name == "openai" else client.module
        faults = sorted(self._faults(client, module, settings), key=lambda fault: _ORDER.index(fault.code))
        if not faults:
            return None
        fault = faults[0]
        if fault.code == "MR024":  # say all that has to change in an Azure client at once
            older = [other.detail for other in faults if other.code == "MR022"]
            fault = replace(fault, detail=", and ".join([fault.detail, *older[:1]]))
        where = self.ambient.module_of(fault.node) if fault.node is not None else None
        if fault.node is None or where is None:
            return Reason(fault.code, Level.MANUAL, fault.detail, client.node, client.module, fault.step)
        return Reason(fault.code, Level.MANUAL, fault.detail, fault.node, where, fault.step)

    def _faults(self, client: Client, module: Module, settings: Settings) -> Iterator[_Fault]:
        if any(item.text is not None for item in self._given(client, "provider", module)):
            yield _Fault("MR020", "the client is made with `provider=`")
        urls = self._given(client, "base_url", module)
        if not isinstance(client.node, cst.Name | cst.Attribute) and self._has_unknown_splat(client):
            urls.append(Text(GAP, "arguments that come as `**` and could not be followed"))
        if NOTHING in urls:
            urls.extend(self.ambient.environment("OPENAI_BASE_URL", module, self.texts))
        if client.is_azure or self._is_azure_module(client, module):
            yield from self._azure(client, module, urls, settings)
            return
        for url in urls:
            fault = _plain_fault(url, settings)
            if fault is not None:  # one of several values: say which
                yield replace(fault, node=fault.node or (url.node if len(urls) > 1 else None))

    # -- arguments -----------------------------------------------------------------------

    def _given(self, client: Client, name: str, module: Module) -> list[Text]:
        """What argument ``name`` can be, later assignments included; ``NOTHING`` if it is left out."""
        found: list[Text] = []
        link: Client | None = client
        while link is not None:
            own = self._own(link, name)
            found.extend(item for item in own if item.text is not None)
            for attribute, var, node in link.overrides:
                where = self.ambient.module_of(node)
                if attribute in _ALIASES.get(name, (name,)) and self.ambient.meets(where, module):
                    assigned = self.texts.read(var, _OWN.get(name, ""))
                    found.extend(replace(item, place=node) for item in assigned if item.text is not None)
            if NOTHING not in own:
                return found
            link = link.base
        return [*found, NOTHING]

    def _own(self, client: Client, name: str) -> list[Text]:
        var = client.arguments.get(name)
        if var is None:
            return [NOTHING]
        splat = client.arguments.get("**")
        if splat is not None and name not in client.spelled:
            if not any(writes(value, name) for value in splat.values):
                return [NOTHING]
            return [*self.texts.read(var, _OWN.get(name, "")), NOTHING]
        found = self.texts.read(var, _OWN.get(name, ""))
        return found or [Text(GAP, "a value that could not be followed")]

    def _has_unknown_splat(self, client: Client) -> bool:
        link: Client | None = client
        while link is not None:
            splat = link.arguments.get("**")
            if splat is not None and not self.texts.is_known(splat):
                return True
            link = link.base
        return False

    def _is_azure_module(self, client: Client, module: Module) -> bool:
        if client.name != "openai":
            return False
        kinds = self._given(client, "api_type", module)
        return any(item.text in ("azure", "azure_ad", "azuread") for item in kinds)

    # -- Azure ---------------------------------------------------------------------------

    def _azure(
        self, client: Client, module: Module, urls: list[Text], settings: Settings
    ) -> Iterator[_Fault]:
        assumed = settings.assume_responses
        given = [url for url in urls if url.text is not None]
        for item in self._given(client, "azure_deployment", module):
            if item.text is not None:
                name = f"`{item.text}`" if item.is_known else item.why
                yield _Fault(
                    "MR024", f"the client names the deployment {name}, which Responses ignores", item.place
                )
        for url in given:
            text = url.text or ""
            if "/deployments/" in text:
                yield _Fault("MR024", f"base_url `{_shown(text)}` names a deployment", url.place)
            elif text == GAP and not assumed & {"azure", "dynamic"}:
                yield _Fault("MR021", f"base_url comes from {url.why}", url.place)
        for endpoint in self._given(client, "azure_endpoint", module):
            split = _split(endpoint.text or "")
            host = split.hostname or ""
            if (
                "." in host
                and not providers.is_openai(host)  # of a setting that other clients share
                and GAP not in host
                and not providers.is_azure(host)
                and not _vouched(split, settings)
            ):
                detail = f"`{endpoint.text}` is not a host of Azure OpenAI"
                yield _Fault("MR020", detail, endpoint.place, _assuming(split.netloc))
        if not given or not all(_is_v1(url.text or "") for url in given):
            yield from self._version(client, module, settings)

    def _version(self, client: Client, module: Module, settings: Settings) -> Iterator[_Fault]:
        found = self._given(client, "api_version", module)
        if NOTHING in found:
            found.remove(NOTHING)
            ambient = self.ambient.environment("OPENAI_API_VERSION", module, self.texts)
            found.extend(ambient or [Text(GAP, "")])
        for item in found:
            fault = _version_fault(item)
            if fault is not None and not (fault.code == "MR023" and "azure" in settings.assume_responses):
                yield fault

    # -- models --------------------------------------------------------------------------

    def models(self, site: Site, settings: Settings, held: bool) -> Iterator[Reason]:
        """Models that OpenAI does not serve, or not here. ``held``: the endpoint is to blame already."""
        known: dict[str, cst.CSTNode] = {}
        for var in self.project.argument(site.invocation, "model"):
            self.project.solver.run()
            for item in self.texts.read(var):
                if item.text is not None and item.is_known and item.node is not None:
                    known.setdefault(item.text, item.node)
        for name, node in known.items():
            if _CHAT_ONLY.match(name):
                yield self._model_reason("MR026", name, node, site)
        foreign = {name: node for name, node in known.items() if providers.is_foreign_model(name)}
        # A list of many vendors' models is shared out before the call; this one gets OpenAI's.
        if held or not foreign or len(foreign) < len(known) or not self._is_plain(site, settings):
            return
        name, node = next(iter(foreign.items()))
        yield self._model_reason("MR025", name, node, site)

    def _model_reason(self, code: str, name: str, node: cst.CSTNode, site: Site) -> Reason:
        module = self.ambient.module_of(node)
        place = (node, module) if module is not None else (site.node, site.module)
        fault = "is not a model of OpenAI" if code == "MR025" else "answers on Chat Completions only"
        return Reason(code, Level.MANUAL, f"`{name}` {fault}", *place)

    def _is_plain(self, site: Site, settings: Settings) -> bool:
        """Whether every client of ``site`` is taken to talk to OpenAI, with nothing vouched for."""
        bare = Settings()
        return "dynamic" not in settings.assume_responses and all(
            not client.is_azure and self.judge(client, bare, site) is None for client in site.clients
        )


_OWN = {"base_url": "OPENAI_BASE_URL"}
_ALIASES = {"base_url": ("base_url", "_base_url", "api_base"), "api_version": ("api_version", "_api_version")}


def _judges(project: Project) -> _Judges:
    found = project.notes.get("judges")
    if not isinstance(found, _Judges):
        found = project.notes["judges"] = _Judges(project)
    return found


def texts_of(project: Project) -> Texts:
    """What strings of ``project`` can be, as its clients are judged by."""
    return _judges(project).texts


def is_instructor_site(site: Site) -> bool:
    """Whether a ``response_model=`` gives away that the client is wrapped by instructor."""
    return has_argument(site, "response_model")


def has_argument(site: Site, name: str) -> bool:
    """Whether ``site`` is given argument ``name``, spelled out or through ``**``."""
    for item in site.invocation.arguments:
        if item.keyword == name:
            return True
        if item.keyword == "**" and any(
            isinstance(value, DictValue) and writes(value, name) for value in item.var.values
        ):
            return True
    return False


def _split(text: str) -> SplitResult:
    """``text`` as a URL; a gap in the host or port is kept."""
    try:
        return urlsplit(text if "://" in text else f"//{text}" if "." in text.partition("/")[0] else text)
    except ValueError:
        return urlsplit("")


def _is_v1(text: str) -> bool:
    return text.partition("?")[0].rstrip("/").endswith("/openai/v1")


def _plain_fault(url: Text, settings: Settings) -> _Fault | None:
    """What speaks against a plain client with ``base_url=url``."""
    text = url.text
    if text is None:
        return None
    split = _split(text)
    authority = split.netloc.rpartition("@")[2]
    host = authority.partition(":")[0].lower() if "[" not in authority else (split.hostname or "")
    suffix = host.rpartition(GAP)[2]  # all of it, if nothing is missing
    if not host or (GAP in host and not suffix.startswith(".")):
        if _is_v1(text) and "azure" in url.why.lower():
            return None
        if "dynamic" in settings.assume_responses:
            return None
        return _Fault("MR021", f"base_url comes from {url.why or _shown(text)}", url.place)
    host = suffix.lstrip(".") if GAP in host else host
    if providers.is_openai(host) or _vouched(split, settings):
        return None
    if providers.is_azure(host):
        if _is_v1(text) or "azure" in settings.assume_responses:
            return None
        if "/deployments/" in text:
            return _Fault("MR024", f"base_url `{_shown(text)}` names a deployment", url.place)
        return _Fault(
            "MR020", f"`{_shown(text)}` is Azure, which serves /responses under /openai/v1/", url.place
        )
    provider = providers.find(split) if GAP not in authority else None
    known = f"{provider.name}, which {provider.known}" if provider is not None else "another host"
    step = _assuming(authority) if GAP not in authority else ""
    return _Fault("MR020", f"`{_shown(text)}` is {known}", url.place, step)


def _assuming(authority: str) -> str:
    """What to do about the host of a URL, with its port if there is one."""
    host = masked(authority.rpartition("@")[2].lower())
    return f"if your server has /responses: migrate-responses apply --assume-responses {quote(host)}"


def _shown(text: str) -> str:
    return masked(text.replace(GAP, "..."))


def _vouched(split: SplitResult, settings: Settings) -> bool:
    """Whether the user said that this address serves the Responses API."""
    address = f"{split.netloc.rpartition('@')[2]}{split.path}".lower().rstrip("/") + "/"
    host = (split.hostname or "").lower()
    for entry in settings.assume_responses:
        wanted = entry.lower().partition("://")[2] or entry.lower()
        if host and (wanted == host or address.startswith(wanted.rstrip("/") + "/")):
            return True
    return False


def _version_fault(item: Text) -> _Fault | None:
    if item.defaulted:
        return None  # judged by the literal that stands in for the variable
    if not item.is_known:
        return _Fault(
            "MR023", f"api_version {f'comes from {item.why}' if item.why else 'is left out'}", item.place
        )
    match = _VERSION.fullmatch(item.text or "")
    if match is None:
        return _Fault("MR023", f"api_version `{item.text}` is not understood", item.place)
    if match[2] is None:
        return _Fault("MR022", f"api_version `{match[0]}` is a GA version without Responses", item.place)
    return (
        None
        if match[1] >= FIRST_VERSION
        else _Fault("MR022", f"api_version `{match[0]}` is older than {FIRST_VERSION}-preview", item.place)
    )


__all__ = ["has_argument", "is_instructor_site", "judge", "judge_site", "texts_of"]
