"""Frames of videos."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from groupcm.errors import InputError, TruncatedVideoWarning
from groupcm.images.synthetic import make_frames
from groupcm.images.video import video_frames


@pytest.fixture(scope="module")
def frames() -> list[np.ndarray]:
    return [frame.pixels for frame in make_frames(7, height=48, width=64, seed=2)]


@pytest.fixture(scope="module")
def video(tmp_path_factory, frames) -> Path:
    import imageio.v3

    path = tmp_path_factory.mktemp("videos") / "été 1.mp4"
    imageio.v3.imwrite(path, np.stack(frames), plugin="FFMPEG", fps=5, quality=10)
    return path


def test_frames_come_in_their_order_with_their_pixels(video, frames):
    found = list(video_frames(video))
    assert [name for name, _ in found] == [f"frame 00000{n}" for n in range(1, 8)]
    for (_, pixels), made in zip(found, frames, strict=True):
        assert pixels.dtype == np.uint8
        assert pixels.shape == made.shape
        own = np.abs(pixels.astype(int) - made).mean()
        others = [np.abs(pixels.astype(int) - each).mean() for each in frames if each is not made]
        assert own < 8  # compressed with loss
        assert own < min(others)


def test_every_third(video):
    assert [name for name, _ in video_frames(video, every=3)] == [
        "frame 000001",
        "frame 000004",
        "frame 000007",
    ]
    everything = dict(video_frames(video))
    for name, pixels in video_frames(video, every=3):
        np.testing.assert_array_equal(pixels, everything[name])


def test_frames_that_are_too_large_are_refused_before_they_are_read(video, monkeypatch):
    monkeypatch.setenv("GROUPCM_MOST_PIXELS", "3000")
    with pytest.raises(
        InputError, match=r"été 1\.mp4: a frame has 64 × 48 pixels, more than 3,000"
    ):
        next(video_frames(video))


def test_one_may_stop_early(video):
    found = video_frames(video)
    assert next(found)[0] == "frame 000001"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found.close()  # type: ignore[attr-defined]
        del found
    assert not caught, "closing the frames leaves a pipe to FFmpeg open"
    assert len(list(video_frames(video))) == 7


def test_what_is_no_video(tmp_path, video):
    whole = video.read_bytes()
    for name, content in (("empty", b""), ("text", b"no video " * 500), ("cut", whole[:1000])):
        path = tmp_path / f"{name}.mp4"
        path.write_bytes(content)
        with pytest.raises(InputError, match=rf"the video .*{name}\.mp4 cannot be read") as told:
            list(video_frames(path))
        assert "\n" not in str(told.value)
    with pytest.raises(InputError, match=r"gone\.mp4 does not exist"):
        video_frames(tmp_path / "gone.mp4")
    with pytest.raises(InputError, match="is a folder"):
        video_frames(tmp_path)
    with pytest.raises(ValueError, match="every is 0"):
        video_frames(video, every=0)


def test_a_video_that_was_cut_off_gives_its_frames_and_a_warning(tmp_path):
    import imageio.v3

    whole, cut = tmp_path / "whole.mkv", tmp_path / "cut.mkv"
    noise = np.random.default_rng(0).integers(0, 255, (20, 48, 64, 3), dtype=np.uint8)
    imageio.v3.imwrite(whole, noise, plugin="FFMPEG", fps=10, codec="mjpeg")
    cut.write_bytes(whole.read_bytes()[: int(0.6 * whole.stat().st_size)])
    with pytest.warns(TruncatedVideoWarning, match=r"ends after \d+ of about 20 frames") as told:
        found = list(video_frames(cut))
    assert len(told) == 1
    kept = list(video_frames(whole))
    assert 5 < len(found) < 15
    for (_, pixels), (_, expected) in zip(found[:-1], kept, strict=False):
        np.testing.assert_array_equal(pixels, expected)


def test_the_extra_is_named_where_it_is_missing(video, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(InputError, match=r'pip install "groupcm\[images\]"'):
        list(video_frames(video))
