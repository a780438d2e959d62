"""The plug-ins of one kind, such as the losses, by the names that users give them.

Only the standard library is imported here, and a plug-in's own module when the plug-in is made, so
that the command line can list the names without loading NumPy.
"""

from __future__ import annotations

from importlib import import_module

from groupcm import TYPE_CHECKING
from groupcm.errors import Argument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from groupcm.utils.parameters import Parameter

__all__ = ["Plugin", "Registry", "unused_parameters"]


class Plugin:
    """Where a plug-in is made: ``"module.function"`` of its package, and its hyperparameters."""

    def __init__(self, home: str, *hyperparameters: Parameter) -> None:
        self.home, self.hyperparameters = home, hyperparameters


class Registry:
    """Plug-ins by name, in the order in which they are listed.

    Parameters
    ----------
    package : str
        The package whose modules the homes of the plug-ins are.
    plugins : mapping of str to Plugin

    Examples
    --------
    >>> from groupcm.objective.penalties import PENALTIES
    >>> "l2" in PENALTIES
    True
    >>> [own.name for own in PENALTIES.hyperparameters][0]
    'epsilon'
    """

    def __init__(self, package: str, plugins: Mapping[str, Plugin]) -> None:
        self._package, self._plugins = package, dict(plugins)

    def __iter__(self) -> Iterator[str]:
        return iter(self._plugins)

    def __len__(self) -> int:
        return len(self._plugins)

    def __contains__(self, name: object) -> bool:
        return name in self._plugins

    @property
    def hyperparameters(self) -> tuple[Parameter, ...]:
        """The hyperparameters of all plug-ins, each once."""
        found = {h.name: h for plugin in self._plugins.values() for h in plugin.hyperparameters}
        return tuple(found.values())

    def with_hyperparameter(self, name: str) -> list[str]:
        """Return the plug-ins that have this hyperparameter."""
        plugins = self._plugins.items()
        return [key for key, each in plugins if name in (h.name for h in each.hyperparameters)]

    def make(self, name: str, **hyperparameters: float) -> Any:
        """Return the plug-in of this name; hyperparameters of others are ignored."""
        plugin = self._plugins[name]
        module, factory = plugin.home.split(".")
        taken = (h.name for h in plugin.hyperparameters if h.name in hyperparameters)
        make = getattr(import_module(f"{self._package}.{module}"), factory)
        return make(**{key: float(hyperparameters[key]) for key in taken})

    def made_for(self, name: str, estimator: Any) -> Any:
        """Return the plug-in of this name with the hyperparameters that an estimator has."""
        own = self._plugins[name].hyperparameters
        return self.make(name, **{h.name: getattr(estimator, h.name) for h in own})


def unused_parameters(
    given: Mapping[str, Any], registries: Mapping[str, Registry]
) -> dict[str, tuple[object, ...]]:
    """Return the hyperparameters that the chosen plug-ins ignore, each with the parts of a message.

    Parameters
    ----------
    given : mapping
        The hyperparameters of an estimator by their names; the plug-ins are among them.
    registries : mapping of str to Registry
        By the name of the hyperparameter that chooses a plug-in, such as "penalty".

    Examples
    --------
    >>> from groupcm.objective.penalties import PENALTIES
    >>> found = unused_parameters({"penalty": "l2", "epsilon": 0.5}, {"penalty": PENALTIES})
    >>> "".join(map(str, found["epsilon"]))
    'epsilon has no effect without penalty="huber".'
    """
    found: dict[str, tuple[object, ...]] = {}
    for choice, registry in registries.items():
        for name in (h.name for h in registry.hyperparameters if h.name in given):
            takers = registry.with_hyperparameter(name)
            if given.get(choice) not in takers:
                which = Argument(choice, takers[0])
                found[name] = (Argument(name), " has no effect without ", which, ".")
    return found
