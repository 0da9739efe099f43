"""The modules there are: ours, and those that installed packages name in the entry point group `jobledger.modules`."""

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import msgspec

from services.workers.modules.enrich import Enrich
from services.workers.modules.protocol import Module
from services.workers.modules.scrap import Scrap
from services.workers.modules.sitemap import Sitemap

GROUP = "jobledger.modules"
OURS: tuple[Module, ...] = (Scrap(), Sitemap(), Enrich())


class ModuleClash(Exception):
    """Two modules have one name, or what an entry point names is no module: uninstall one of them."""


def modules(installed: Iterable[EntryPoint] | None = None) -> Mapping[str, Module]:
    """Return every module by its name; raises ModuleClash."""
    found = {module.name: module for module in OURS}
    for entry in entry_points(group=GROUP) if installed is None else installed:
        module = entry.load()()
        name = getattr(module, "name", "")
        if name != entry.name or not hasattr(module, "run"):
            raise ModuleClash(f"{entry.value} is no module called {entry.name!r}, as its entry point says")
        if name in found:
            raise ModuleClash(f"{entry.value} is called {name!r}, as another module is")
        found[name] = module
    return found


def read_params(module: Module, params: Any) -> tuple[Any, list[str]]:
    """Return the params of a module, and what is wrong with them; None and why, where they have not their types."""
    try:
        read = msgspec.convert(params, module.params)
    except msgspec.ValidationError as error:
        return None, [str(error)]
    return read, module.faults(read)


def params_schema(module: Module) -> dict[str, Any]:
    """Return the JSON Schema of what a module takes."""
    return msgspec.json.schema(module.params)
