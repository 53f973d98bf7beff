"""The gates page in Chromium."""

import re

import pytest

RIBBON = ".js-plotly-plot .scatterlayer path.js-line"
# the forget gate's line is level, and what has no height is not visible to the browser: the last one is the answer's
LAST = f"{RIBBON} >> nth=-1"


def verdict(page):
    return page.locator("p.verdict").inner_text()


def test_it_paints_and_a_dial_changes_the_picture(visit, settled):
    page = visit("/gates")
    page.wait_for_selector(LAST)
    assert page.get_by_role("heading", level=1).is_visible()
    assert page.get_by_test_id("stException").count() == 0
    paths = "lines => lines.map(line => line.getAttribute('d'))"
    said, before = verdict(page), page.locator(RIBBON).evaluate_all(paths)
    assert said.startswith("Score 0.0104")
    slider = page.locator(".st-key-gates_hold input").first
    slider.focus()
    slider.press("ArrowLeft")
    page.wait_for_url(re.compile(r"gates_hold=4\.9"))
    page.wait_for_function("said => document.querySelector('p.verdict').innerText !== said", arg=said)
    settled(page)
    page.wait_for_selector(LAST)
    assert page.locator(RIBBON).evaluate_all(paths) != before


@pytest.mark.parametrize(("show", "carpets"), [("LSTM", 5), ("GRU", 4)])
def test_the_carpets_of_a_layer(visit, settled, show, carpets):
    page = visit("/gates")
    page.locator(".st-key-gates_show").get_by_text(show, exact=True).click()
    page.wait_for_selector(".js-plotly-plot .heatmaplayer image")
    settled(page)
    assert page.locator(".js-plotly-plot .heatmaplayer .hm").count() == carpets
    assert verdict(page).startswith("Reach")


@pytest.mark.parametrize(
    ("show", "names"),
    [("unit", ("hold", "shut", "open")), ("lstm", ("forget", "input", "hidden")), ("gru", ("reset", "gain"))],
)
def test_the_first_screen_needs_no_scrolling(visit, ends_above, show, names):
    page = visit(f"/gates?gates_show={show}")
    page.wait_for_selector(".js-plotly-plot .main-svg")
    for width, height in ((1440, 900), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        for name in names:
            ends_above(page, f".st-key-gates_{name}", height)


def test_a_phone_scrolls_down_and_never_sideways(new_page, settled):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto("/gates?gates_show=lstm&gates_why=half")
    settled(page)
    page.wait_for_selector(".js-plotly-plot .main-svg")
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
