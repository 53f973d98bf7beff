"""The gradients page in Chromium."""

import re


def values(page):
    """The verdict, which says the numbers that are drawn."""
    return page.locator("p.verdict").inner_text()


def test_it_paints_and_a_control_changes_the_picture(visit, settled):
    page = visit("/jacobians")
    page.wait_for_selector(".js-plotly-plot .main-svg")
    said = values(page)
    assert re.search(r"40 steps later 5\.(09|1)·10⁻⁶ of it is left", said)
    path = page.locator(".js-plotly-plot .scatterlayer path.js-line").last
    before = path.get_attribute("d")
    slider = page.locator('.st-key-jacobians_gain [role="slider"], .st-key-jacobians_gain input').first
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
    page.wait_for_url(re.compile(r"jacobians_gain=1\.03"))
    settled(page)
    page.wait_for_function(
        "d => document.querySelector('.js-plotly-plot .scatterlayer path.js-line').getAttribute('d') !== d", arg=before
    )
    assert values(page) != said


def test_the_first_screen_needs_no_scrolling(visit, ends_above):
    page = visit("/jacobians")
    page.wait_for_selector(".js-plotly-plot .main-svg")
    for width, height in ((1440, 900), (1280, 720), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        for name in ("gain", "input", "cell"):
            ends_above(page, f".st-key-jacobians_{name}", height)


def test_a_phone_scrolls_down_and_never_sideways(new_page, settled):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto("/jacobians")
    settled(page)
    page.wait_for_selector(".js-plotly-plot .main-svg")
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_predict_then_reveal(visit):
    page = visit("/jacobians?jacobians_predict=on")
    page.get_by_text("The picture waits for your answer").wait_for()
    page.get_by_role("button", name="less than a ten-thousandth").click()
    page.wait_for_selector(".js-plotly-plot .main-svg")
    assert page.locator("p.claim").inner_text().startswith("✓ You said")


def test_back_and_forward_walk_through_the_views(visit, settled):
    page = visit("/jacobians")
    page.get_by_text("LSTM", exact=True).click()
    page.wait_for_url(re.compile("jacobians_cell=lstm"))
    settled(page)
    said = values(page)
    page.get_by_text("GRU", exact=True).click()
    page.wait_for_url(re.compile("jacobians_cell=gru"))
    page.go_back()
    page.wait_for_url(re.compile("jacobians_cell=lstm"))
    page.wait_for_function("said => document.querySelector('p.verdict').innerText === said", arg=said)
