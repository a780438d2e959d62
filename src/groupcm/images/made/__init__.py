"""Made pictures for tests and the demo: frames of capsule endoscopy whose polyps are known."""

from groupcm.images.made.folder import write_frames
from groupcm.images.made.frames import MadeFrame, make_frames

__all__ = ["MadeFrame", "make_frames", "write_frames"]
