"""How every kind and state of a picture looks, beside reference images that somebody has looked at.

They are compared a quarter as large and a tile at a time, so that another version of a browser or a font passes and a
missing line, a lost legend or a label somewhere else does not. To take new ones: delete tests/browser/looks/, run this
file, look at what it wrote, and commit it.
"""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

LOOKS = Path(__file__).with_name("looks")
SHRUNK = 4
TILE = 12  # of the shrunk image: 48 pixels of the page
SIZES = (1440, 1024, 390)
FAR = 26.0  # grey levels that a tile may differ in the mean: an anti-aliased edge is below it, a line is not
MOST = 0.004  # of the tiles may be far: a glyph of another font

AT_REST = """([width, color]) => {
    const plots = [...document.querySelectorAll('.js-plotly-plot')];
    const cells = [...document.querySelectorAll('.rnn-cell svg')];
    return innerWidth === width && plots.length + cells.length > 5 && plots.every(plot => {
        const full = plot._fullLayout;
        const text = getComputedStyle(plot).getPropertyValue('--st-text-color').trim();
        return full && text === color && full.font.color === text
            && Math.abs(full.width - plot.parentElement.clientWidth) <= 1;
    });
}"""
TEXT = {"light": "#1b1f24", "dark": "#eceff2"}


def shrunk(png: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    return image.resize((image.width // SHRUNK, image.height // SHRUNK), Image.Resampling.BOX)


def apart(one: Image.Image, other: Image.Image) -> float:
    """The share of tiles that differ."""
    if abs(one.width - other.width) > 1 or abs(one.height - other.height) > 0.02 * other.height:
        return 1.0
    size = (min(one.width, other.width) // TILE * TILE, min(one.height, other.height) // TILE * TILE)
    a, b = (np.asarray(image.crop((0, 0, *size)), dtype=float) for image in (one, other))
    difference = np.abs(a - b).mean(-1).reshape(size[1] // TILE, TILE, size[0] // TILE, TILE).mean((1, 3))
    return float((difference > FAR).mean())


def test_a_picture_without_a_line_is_apart_and_one_beside_it_by_a_hair_is_not() -> None:
    page = np.full((240, 360, 3), 255, dtype=np.uint8)
    page[100:108, 20:340] = 0
    softer, without = page.copy(), np.full_like(page, 255)
    softer[100:108, 20:340] = 30
    one, soft, none = (Image.fromarray(pixels) for pixels in (page, softer, without))
    assert apart(one, soft) == 0
    assert apart(one, none) > MOST
    assert apart(one, one.resize((360, 300))) == 1


@pytest.mark.parametrize("view", ["states", "kinds", "cells"])
def test_it_looks_as_it_did(states, screenshot, view):
    page = states(view)
    different = []
    for width in SIZES:
        page.set_viewport_size({"width": width, "height": 1000})
        for scheme, color in TEXT.items():
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function(AT_REST, arg=[width, color])
            height = page.evaluate("document.querySelector('.stMain').scrollHeight")
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(400)  # until what its size changed is drawn again
            page.wait_for_function(AT_REST, arg=[width, color])
            now = shrunk(page.screenshot())
            kept = LOOKS / f"{view}-{width}-{scheme}.png"
            if not kept.exists():
                LOOKS.mkdir(exist_ok=True)
                now.quantize(64).save(kept, optimize=True)
                different.append(f"{kept.name} was not there and is now: look at it")
                screenshot(page, f"{view}-{width}-{scheme}")
                continue
            far = apart(now, Image.open(kept).convert("RGB"))
            if far > MOST:
                now.save(screenshot(page, f"{view}-{width}-{scheme}").with_suffix(".small.png"))
                different.append(f"{kept.name}: {100 * far:.2f} % of it differs, see .screenshots/")
    assert different == []
