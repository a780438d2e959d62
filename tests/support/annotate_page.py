"""A folder of pictures, its annotate page, and a browser's way to speak to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PIL import Image
from starlette.applications import Starlette
from starlette.testclient import TestClient

from groupcm.web.annotate.app import annotate_app
from groupcm.web.annotate.project import PROJECT_HEADER
from groupcm.web.annotate.store import AnnotationStore
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.security import cookie_name

PORT = 8765
TOKEN = "right-token"
HOME = f"http://127.0.0.1:{PORT}"
WIDTH, HEIGHT = 16, 12

BOX = {"type": "box", "x": 1.0, "y": 2.0, "width": 3.0, "height": 4.0}
POLYGON = {"type": "polygons", "parts": [[1.0, 1.0, 8.0, 1.0, 8.0, 6.5]]}
MASK = {"type": "mask", "height": HEIGHT, "width": WIDTH, "counts": [13, 3, 9, 3, 164]}


def make_pictures(folder: Path, *names: str) -> Path:
    """Make a folder of small pictures."""
    for number, name in enumerate(names or ("a.png", "b.png", "c.png")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (WIDTH, HEIGHT), (40 * number % 256, 90, 120)).save(path)
    return folder


def half_annotated_coco(path: Path, folder: Path) -> Path:
    """Write a COCO file as other programs do: it lists all pictures, and the first has a box."""
    images = [
        {"id": number, "file_name": picture.name, "width": WIDTH, "height": HEIGHT}
        for number, picture in enumerate(sorted(folder.iterdir()))
    ]
    box = {"id": 1, "image_id": 0, "category_id": 1, "bbox": [1, 2, 3, 4]}
    categories = [{"id": 1, "name": "polyp"}]
    content = {"images": images, "annotations": [box], "categories": categories}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def make_static(folder: Path) -> Path:
    """Make a page that stands for the built one."""
    folder.mkdir()
    (folder / "annotate.html").write_text("<!doctype html><title>page</title>")
    (folder / "annotate.js").write_text("let a = 1;")
    return folder


def store_of(folder: Path, file: str = "annotations.json", **options: Any) -> AnnotationStore:
    """Open the annotations of a folder."""
    return AnnotationStore(PictureLibrary(folder), folder / file, **options)


def app_of(folder: Path, **options: Any) -> Starlette:
    """Make the application of a folder."""
    library = PictureLibrary(folder)
    categories = options.pop("categories", ["polyp"])
    store = options.pop("store", None) or AnnotationStore(
        library, folder / "annotations.json", categories
    )
    return annotate_app(library, store, token=TOKEN, port=PORT, **options)


def browser(app: Starlette, **options: Any) -> TestClient:
    """Speak to an application as its own page does."""
    client = TestClient(app, base_url=HOME, follow_redirects=False, **options)
    client.cookies.set(cookie_name(PORT), TOKEN)
    client.headers["Origin"] = HOME
    told = client.get("/api/project")
    if told.is_success:
        client.headers[PROJECT_HEADER] = told.json()["project"]
    return client


def marked(region: dict[str, Any], key: str | int = "n1", category: str = "polyp") -> dict:
    """Return an object as the page sends it."""
    return {"id": key, "category": category, "region": region, "score": None}


def put(client: TestClient, number: int, *objects: dict, done: bool = True, version=None):
    """Send what is in a picture; by default for the version that is there."""
    address = f"/api/pictures/{number}"
    seen = client.get(address).json()
    body = {
        "name": seen.get("name", ""),
        "version": seen.get("version", 0) if version is None else version,
    }
    return client.put(address, json=body | {"done": done, "objects": [*objects]})
