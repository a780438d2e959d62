"""An annotate page left open while the server went on to something else."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from annotate_browser import (
    BOX,
    BOX_FROM,
    BOX_TO,
    AnnotatePage,
    annotating,
    command,
    draw_box,
    kill,
    make_pictures,
)
from playwright.sync_api import Page, expect
from web_pages import visiting

REFUSED = ["ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "403", "409", "412"]


def start(folder: Path, port: object = 0):
    return command("annotate", folder, "--no-suggestions", "--port", port)


def does_not_ask(tab: Page) -> None:
    """Let a page notice nothing by itself."""
    tab.route("**/api/changes*", lambda route: route.abort())


# What a page reports of a server that is killed, perhaps in the middle of an answer.
CUT_OFF = [*REFUSED, "ERR_FAILED", "ERR_CONTENT_LENGTH_MISMATCH"]


def opened(tab: Page, address: str) -> AnnotatePage:
    """Open the address in another tab, as the user does; all tabs then have its cookie."""
    page = AnnotatePage(tab.context.new_page())
    page.page.goto(address)
    page.shows(0)
    return page


@pytest.mark.parametrize("notices", [pytest.param(True, marks=pytest.mark.slow), False])
def test_a_tab_of_another_folder_writes_nothing(browser, tmp_path, notices):
    folder, other = make_pictures(tmp_path / "fa"), make_pictures(tmp_path / "fb")
    with start(folder) as (process, address):
        port = urlsplit(address).port
        with visiting(browser, address, forgiven=CUT_OFF) as tab:
            page = AnnotatePage(tab)
            page.shows(0)
            if not notices:
                does_not_ask(tab)
            kill(process)
            with start(other, port) as (_, address):
                newer = opened(tab, address)
                tab.bring_to_front()
                stale = tab.get_by_role("dialog", name="This page is out of date")
                if not notices:
                    page.press("n")
                    expect(stale).to_contain_text("a.png")
                expect(stale).to_contain_text("groupcm now serves")
                page.press("Escape", "n")
                expect(stale).to_be_visible()
                assert not (other / "annotations.json").exists()
                tab.unroute_all()
                stale.get_by_role("button", name="Reload").click()
                expect(tab.locator("h1")).to_contain_text("fb")
                page.shows(0)
                if not notices:
                    page.told("Not saved: the last change of a.png.")
                assert newer.record(0)["done"] is False
    assert not (other / "annotations.json").exists()
    assert not (folder / "annotations.json").exists()


def test_work_goes_to_its_picture_when_the_list_has_changed(browser, tmp_path):
    folder = make_pictures(tmp_path / "frames", "b.png", "c.png", "d.png")
    with start(folder) as (process, address):
        port = urlsplit(address).port
        with visiting(browser, address, forgiven=CUT_OFF) as tab:
            page = AnnotatePage(tab)
            page.shows(0)
            page.open(1)
            does_not_ask(tab)
            kill(process)
            make_pictures(folder, "a.png")
            with start(folder, port) as (_, address):
                newer = opened(tab, address)
                tab.bring_to_front()
                page.drag(BOX_FROM, BOX_TO)
                stale = tab.get_by_role("dialog", name="This page is out of date")
                expect(stale).to_contain_text("The list of pictures has changed")
                expect(stale).to_contain_text("c.png")
                assert all(newer.regions(number) == [] for number in range(4))
                tab.unroute_all()
                stale.get_by_role("button", name="Reload").click()
                page.shows(2)
                page.has("box")
                assert newer.record(2)["name"] == "c.png"
                assert newer.regions(2) == [BOX]
                assert all(newer.regions(number) == [] for number in (0, 1, 3))


# Pictures that cannot be read --------------------------------------------------------------------


def test_unreadable_pictures_are_passed_and_not_counted(browser, tmp_path):
    folder = make_pictures(tmp_path / "frames", *(f"{name}.png" for name in "acde"))
    (folder / "b.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    whole = (folder / "d.png").read_bytes()
    (folder / "d.png").write_bytes(whole[: len(whole) // 2])  # its size can still be read
    with annotating(browser, folder, forgiven=["422"]) as page:
        message = page.page.locator(".stage-message")
        page.open(0)
        page.page.locator('[data-picture="1"]').click()
        expect(message).to_contain_text("b.png")
        expect(page.page.locator('[data-picture="1"]')).to_contain_text("unreadable")
        page.press("n")
        page.told("b.png cannot be read")
        page.shows(2)
        page.press("j")
        expect(message).to_contain_text("d.png")
        expect(page.page.locator('[data-picture="3"]')).to_contain_text("unreadable")
        page.counts("0 of 3 done · 0 with objects, 0 verified empty · 2 unreadable")
        page.press("Enter")
        for number in (4, 0, 2):
            page.shows(number)
            page.press("n")
        page.told("Every picture in this list is done.")
        page.counts("3 of 3 done · 0 with objects, 3 verified empty · 2 unreadable")
        page.is_saved()


def test_what_can_never_be_saved_is_told_once_and_taken_back(browser, tmp_path):
    folder = make_pictures(tmp_path / "frames")
    with annotating(browser, folder, forgiven=["400", "422"]) as page:
        sent = []
        page.page.on(
            "request", lambda each: sent.append(each.url) if each.method == "PUT" else None
        )
        kept = (folder / "a.png").read_bytes()
        (folder / "a.png").unlink()
        draw_box(page)
        page.told("Not saved: the picture a.png no longer exists.")
        page.has()
        expect(page.page.locator('[data-picture="0"]')).to_contain_text("unreadable")
        assert len(sent) == 1
        (folder / "a.png").write_bytes(kept)
        page.press("Control+z")
        page.has("box")
        page.open(1)
        draw_box(page)
        page.has("box")
        assert page.regions(0) == page.regions(1) == [BOX]
        assert len(sent) == 3
