"""The plug-ins of one kind, such as the losses, by the names that users give them.

Only the standard library is imported here, and a plug-in's own module when the plug-in is made, so
that the command line can list the names without loading NumPy.
"""

from __future__ import annotations

from importlib import import_module

from groupcm import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from groupcm.utils.parameters import Parameter

__all__ = ["Plugin", "Registry"]


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
