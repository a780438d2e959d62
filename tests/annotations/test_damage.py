"""Files damaged at random: read, or refused in one sentence, never anything else."""

from __future__ import annotations

import json
import random
import shutil

import pytest
from annotation_examples import full_set

from groupcm.annotations import FORMATS, read, write
from groupcm.errors import InputError

JUNK = ("null", "true", "-1", "1e308", "NaN", '""', '"x"', "[]", "{}", "[[]]", "[null]", "1" * 30)
PIECES = (b"-", b"999999999999", b"nan", b"1e400", b"<", b'"', b",", b"\n", b"..", "é".encode())


def damaged_bytes(content: bytes, rng: random.Random) -> bytes:
    """A few bytes changed, cut out, put in, or the end lost."""
    damaged = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(damaged) + 1)
        match rng.randrange(4):
            case 0:
                damaged[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del damaged[at : at + rng.randint(1, 20)]
            case 2:
                damaged[at:at] = rng.choice(PIECES)
            case 3 if rng.random() < 0.3:
                del damaged[at:]
    return bytes(damaged)


def damaged_json(content: bytes, rng: random.Random) -> bytes:
    """One field of the JSON lost, or something else in its place."""
    root = json.loads(content)
    places = []

    def walk(node) -> None:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    walk(root)
    node, key = rng.choice(places)
    if rng.random() < 0.2:
        del node[key]
    else:
        node[key] = json.loads(rng.choice(JUNK))
    return json.dumps(root).encode()


@pytest.mark.filterwarnings("ignore::groupcm.annotations.AnnotationWarning")
@pytest.mark.parametrize("format", list(FORMATS))
def test_damage_is_read_or_refused_in_one_sentence(tmp_path, format):
    rng = random.Random(format)
    marked = full_set()
    write(marked, tmp_path / "whole", format)
    refused = []
    for number in range(80):
        path = tmp_path / f"spoilt {number}"
        if (tmp_path / "whole").is_dir():
            shutil.copytree(tmp_path / "whole", path)
            file = rng.choice(sorted(each for each in path.rglob("*") if each.is_file()))
        else:
            file = path
            shutil.copy(tmp_path / "whole", path)
        content = file.read_bytes()
        is_json = content[:1] in (b"{", b"[")
        damage = damaged_json if is_json and rng.random() < 0.8 else damaged_bytes
        file.write_bytes(damage(content, rng))
        images = marked if format == "yolo" else None
        try:
            read(path, images, format, skip_damaged=rng.random() < 0.3)
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 10
    assert all("spoilt" in words and "\n" not in words for words in refused)


@pytest.mark.filterwarnings("ignore::groupcm.annotations.AnnotationWarning")
def test_damage_left_out_by_request_never_makes_a_picture_negative(tmp_path):
    """A picture that had objects either keeps them all or is to do."""
    rng = random.Random(0)
    marked = full_set()
    write(marked, tmp_path / "whole.json", "coco")
    content = json.loads((tmp_path / "whole.json").read_bytes())
    lost = 0
    for _ in range(200):
        records = json.loads(json.dumps(content["annotations"]))
        rng.choice(records)[rng.choice(("bbox", "segmentation", "category_id", "score"))] = (
            json.loads(rng.choice(JUNK))
        )
        (tmp_path / "damaged.json").write_text(json.dumps(content | {"annotations": records}))
        for picture in read(tmp_path / "damaged.json", skip_damaged=True):
            if len(picture.objects) < len(marked[picture.name].objects):
                assert not picture.done
                lost += 1
    assert lost > 50
