"""Made data; see `groupcm.simulate.world` for the model behind it."""

from groupcm.simulate.frames import Capsule, capsule, capsule_chunks

__all__ = ["Capsule", "capsule", "capsule_chunks"]
