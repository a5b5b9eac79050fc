"""Prefect flows: one module per flow, and the entry point. A flow that moved is still found under its former name."""

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED_FLOWS = {"flows.ablations.ablate": "flows.ablate.ablate"}
"""Entry points that deployments may be registered with, and where each flow is now."""


class MovedModule(ModuleType):
    """Stands for a module that was renamed; Prefect imports a deployment's flow from it by name."""

    def __getattr__(self, name: str) -> object:
        """Return a flow from where it is now."""
        former = f"{self.__name__}.{name}"
        if (present := MOVED_FLOWS.get(former)) is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        warnings.warn(f"{former} is {present} now: deploy it again with that entrypoint", FutureWarning, stacklevel=2)
        module, _, function = present.rpartition(".")
        return getattr(import_module(module), function)


for _name in {entrypoint.rpartition(".")[0] for entrypoint in MOVED_FLOWS}:
    _moved = MovedModule(_name)
    _moved.__spec__ = ModuleSpec(_name, None)
    sys.modules.setdefault(_name, _moved)
