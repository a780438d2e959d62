"""Synthetic capsule endoscopy frames with known polyps, for tests, examples and the demo."""

from groupcm.images.synthetic.frames import SyntheticFrame, make_frames, write_frames

__all__ = ["SyntheticFrame", "make_frames", "write_frames"]

MadeFrame = SyntheticFrame  # the name of the class in version 0.1
