"""Synthetic candidates; `groupcm.simulate.world` describes the model behind them."""

from groupcm.simulate.frames import capsule, capsule_chunks
from groupcm.simulate.parquet import capsule_to_parquet
from groupcm.simulate.videos import Videos, videos
from groupcm.simulate.world import FEATURE_NAMES, Capsule

__all__ = [
    "FEATURE_NAMES",
    "Capsule",
    "Videos",
    "capsule",
    "capsule_chunks",
    "capsule_to_parquet",
    "videos",
]
