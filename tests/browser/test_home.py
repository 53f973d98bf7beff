"""The home page in Chromium."""

BARS = ".js-plotly-plot .barlayer path"


def test_it_paints_two_lanes_and_a_later_step_lights_more(visit, settled):
    page = visit("/")
    page.wait_for_selector(BARS)
    assert page.get_by_role("heading", level=1).is_visible()
    assert page.locator(BARS).count() == 200
    assert page.get_by_test_id("stException").count() == 0
    assert page.locator(".st-key-home_doors a").count() == 4

    shapes = "bars => bars.map(bar => bar.getAttribute('d'))"
    before, said = page.locator(BARS).evaluate_all(shapes), page.locator("p.verdict").inner_text()
    page.get_by_test_id("stSlider").first.locator("input").press("Home")
    page.wait_for_function("said => document.querySelector('p.verdict').innerText !== said", arg=said)
    settled(page)
    assert "home_step=0" in page.url
    page.wait_for_selector(BARS)
    assert page.locator(BARS).evaluate_all(shapes) != before

    assert page.get_by_test_id("stCode").count() == 0
    page.get_by_text("Keep · link, code, data").click()
    page.get_by_test_id("stCode").filter(has_text="import").wait_for()
    assert page.get_by_test_id("stCode").filter(has_text="home_step=0").count() == 1
