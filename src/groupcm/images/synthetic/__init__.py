"""Made pictures for tests and the demo: frames of capsule endoscopy whose polyps are known."""

from groupcm.images.synthetic.frames import MadeFrame, make_frames, write_frames

__all__ = ["MadeFrame", "make_frames", "write_frames"]
