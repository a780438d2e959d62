"""Fixed maps of the features: not linear, still convex, applied block by block, never stored."""

from groupcm.features.additive_chi2 import AdditiveChi2
from groupcm.features.fitted import Fitted, as_feature_map
from groupcm.features.nystroem import Nystroem
from groupcm.features.polynomial import Polynomial
from groupcm.features.random_fourier import RandomFourier

__all__ = ["AdditiveChi2", "Fitted", "Nystroem", "Polynomial", "RandomFourier", "as_feature_map"]
