"""Annotations of more pictures than are there: left out by request, an error otherwise."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from PIL import Image

from groupcm.annotations import FORMATS, AnnotatedObject, Annotations, Box, Picture, write
from groupcm.errors import InputError
from groupcm.images.truth import read_truth

SIZE = (40, 30)
OF_ALL = Annotations(
    (
        Picture("a.png", *SIZE, (AnnotatedObject("polyp", Box(1, 2, 8, 9), id=1),)),
        Picture("b.png", *SIZE, (AnnotatedObject("ulcer", Box(3, 4, 5, 6), id=2),)),
        Picture("c.png", *SIZE, (AnnotatedObject("polyp", Box(5, 6, 7, 8), id=3),)),
    ),
    ("polyp", "ulcer"),
)


def folder_of(home: Path, *names: str) -> Path:
    home.mkdir()
    for name in names:
        Image.new("RGB", SIZE).save(home / name)
    return home


def written(home: Path, format: str) -> Path:
    """All three pictures in a format; some of them look for the pictures when they are written."""
    path = home / {"coco": "all.json", "label_studio": "all.json", "cvat": "all.xml"}.get(
        format, "all.csv" if format == "csv" else "all"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(OF_ALL, path, format)
    return path


@pytest.mark.parametrize("format", list(FORMATS))
def test_pictures_that_are_not_there(tmp_path, format):
    folder = folder_of(tmp_path / "frames", "a.png", "c.png")
    path = written(tmp_path, format)
    names = {"a.png", "c.png"}
    with pytest.raises(InputError, match=r"picture '?\"?b.*is not there"):
        read_truth(path, names, folder)
    truth = read_truth(path, names, folder, only_some=True)
    assert truth.n_elsewhere == 1
    assert {picture.name for picture in truth.marked} == names
    for name in names:
        marked, expected = truth.of(name), OF_ALL[name]
        assert marked is not None
        assert marked.size == SIZE
        (region,) = marked.objects
        assert region.box == expected.objects[0].region
    assert truth.of("b.png") is None


def test_categories_of_the_whole_file_are_known(tmp_path):
    folder, path = folder_of(tmp_path / "frames", "a.png"), written(tmp_path, "coco")
    truth = read_truth(path, {"a.png"}, folder, category="ulcer", only_some=True)
    assert truth.n_elsewhere == 2
    marked = truth.of("a.png")
    assert marked is not None
    assert marked.objects == ()


def test_a_file_of_other_pictures_alone_is_refused(tmp_path):
    folder, path = folder_of(tmp_path / "frames", "d.png"), written(tmp_path, "coco")
    with pytest.raises(InputError, match=r"none of its pictures is there in .*first is 'a.png'"):
        read_truth(path, {"d.png"}, folder, only_some=True)


def test_nothing_else_is_left_out(tmp_path):
    folder, path = folder_of(tmp_path / "frames", "a.png"), written(tmp_path, "coco")
    path.write_text(path.read_text().replace('"category_id": 1', '"category_id": 77', 1))
    with pytest.raises(InputError, match="77"):
        read_truth(path, {"a.png"}, folder, only_some=True)
