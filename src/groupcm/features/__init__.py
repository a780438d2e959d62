"""Fixed maps of the features: not linear, still convex, applied block by block, never stored."""

from groupcm.features.fitted import Fitted, as_feature_map
from groupcm.features.kernel_approximation import AdditiveChi2, Nystroem, RandomFourier
from groupcm.features.polynomial import Polynomial

__all__ = ["AdditiveChi2", "Fitted", "Nystroem", "Polynomial", "RandomFourier", "as_feature_map"]
