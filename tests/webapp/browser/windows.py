"""Where the text stands in the first window, by the size of the window."""

from pathlib import Path
from typing import Literal

from playwright.sync_api import Page

WINDOWS = {(1280, 900): 420, (390, 844): 620, (640, 450): 450}
"""The first sentence begins above this line; the last window has a zoom of 200 %."""

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def begins_low(page: Page, shots: Path | None, name: str) -> dict[tuple[int, int], float]:
    """Return the windows in which the text of a result begins too low, and where it begins.

    Nothing may be wider than a window, and with `shots` a picture of each is taken.
    """
    low = {}
    for (width, height), line in WINDOWS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, 0)")
        for theme in THEMES:
            if shots is not None:
                page.emulate_media(color_scheme=theme)
                page.screenshot(path=shots / f"{name}-{width}-{theme}.png")
        box = page.locator(".sentence, p.sentences").first.bounding_box()
        assert box
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if box["y"] >= line:
            low[width, height] = box["y"]
    return low
