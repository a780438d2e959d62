"""Reading of the frames of a video file, one after another."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.limits import check_pixels
from groupcm.errors import (
    Argument,
    FileName,
    InputError,
    ParameterError,
    TruncatedVideoWarning,
    warn_user,
)
from groupcm.utils.extras import IMAGES
from groupcm.utils.merged_warnings import ignore_warnings

__all__ = ["frame_name", "video_frames"]

_COMPLETE = 0.95  # the stated duration and rate are rounded


def frame_name(number: int) -> str:
    """Return the name of a frame by its number in the video, from 1.

    Examples
    --------
    >>> frame_name(12)
    'frame 000012'
    """
    return f"frame {number:06d}"


def video_frames(
    path: str | os.PathLike[str], every: int = 1
) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    """Read the frames of a video in order; only a few are in memory at a time.

    A warning says where a video has fewer frames than it states.

    Parameters
    ----------
    path
        Any video that FFmpeg reads.
    every
        Take the first frame and then every ``every``-th.

    Yields
    ------
    name : str
        ``frame 000001`` for the first; numbers include frames that are left out.
    pixels : array of shape (height, width, 3)
        Red, green and blue from 0 to 255.

    Examples
    --------
    >>> next(video_frames("no-such.mp4"))
    Traceback (most recent call last):
    groupcm.errors.InputError: the video no-such.mp4 does not exist
    """
    if every < 1:
        raise ParameterError(Argument("every"), f" is {every}; it must be 1 or more")
    path = Path(path)
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise InputError(f"the video {path} {what}")
    return _every(path, every)


def _every(path: Path, every: int) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    frames = _read_frames(path)
    number = 0
    try:
        about = _step(path, number, lambda: next(frames))
        width, height = about["size"]
        _check_size(path, (width, height))
        while (frame := _step(path, number, lambda: next(frames, None))) is not None:
            number += 1
            if (number - 1) % every == 0:
                pixels = np.frombuffer(frame, np.uint8).reshape(height, width, 3)
                yield frame_name(number), pixels.copy()
    finally:
        _quietly(frames.close)
    if not number:
        raise InputError(f"the video {path} holds no frame")
    # The duration is that of the file, whose sound may be longer than its pictures.
    has_sound = bool(about.get("audio_codec"))
    stated = 0.0 if has_sound else about.get("duration", 0.0) * about.get("fps", 0.0)
    if number < _COMPLETE * stated - 1:
        warn_user(
            TruncatedVideoWarning(
                "the video ",
                FileName(path),
                f" ends after {number:,} of about {stated:,.0f} frames that it states; it may have "
                "been cut off, so copy it again",
            )
        )


def _check_size(path: Path, size: tuple[int, int]) -> None:
    """Raise `InputError` for frames that are too large, before the first is read."""
    try:
        check_pixels(*size, "a frame")
    except ValueError as error:
        raise InputError(f"the video {path}: {error}") from error


def _read_frames(path: Path) -> Generator[Any, None, None]:
    """Return FFmpeg's properties of the video, then its frames as bytes.

    The generator owns FFmpeg's process and pipes, so that closing it releases them immediately. A
    reader of ``imageio.v3`` leaves them to the garbage collector.
    """
    return IMAGES.load("imageio_ffmpeg").read_frames(path)


def _step(path: Path, number: int, step: Callable[[], Any]) -> Any:
    try:
        return _quietly(step)
    except Exception as error:
        what = (
            f"after frame {number}; it is damaged"
            if number
            else "because FFmpeg does not know its format, or it is damaged"
        )
        raise InputError(f"the video {path} cannot be read {what}") from error


def _quietly(step: Callable[[], Any]) -> Any:
    """Call a function that leaves pipes to FFmpeg unclosed, without harmless warnings."""
    with ignore_warnings(ResourceWarning):
        try:
            return step()
        except BaseException as error:
            # The frames of the error would release the pipes later, with a warning.
            cause: BaseException | None = error
            while cause is not None:
                traceback.clear_frames(cause.__traceback__)
                cause = cause.__context__
            raise
