"""The unrolling page in Chromium: its link as the first request, its picture, and a control that changes it."""

SHOWN = ".st-key-unrolling_picture .js-plotly-plot .bartext"


def numbers(page):
    return page.locator(SHOWN).all_text_contents()


def test_a_word_is_drawn_and_typing_another_draws_that(visit, screenshot):
    page = visit("/unrolling?v=1&unrolling_units=2")
    page.wait_for_selector(SHOWN)
    before = numbers(page)
    assert len(before) == 10
    assert all(text[0] in "+−" for text in before)
    assert page.get_by_text("same letter L").is_visible()
    box = page.get_by_role("textbox", name="Word")
    box.fill("NOON")
    box.press("Enter")
    page.wait_for_url("**unrolling_word=NOON**")
    page.get_by_text("same letter O").wait_for()
    assert len(numbers(page)) == 8
    assert not page.get_by_text("could not be computed").is_visible()
    screenshot(page, "unrolling")


def test_a_long_word_scrolls_on_a_phone_and_the_page_does_not(new_page, settled):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto("/unrolling?v=1&unrolling_word=MISSISSIPPI")
    settled(page)
    page.wait_for_selector(SHOWN)
    page.wait_for_function(
        "() => document.querySelector('.st-key-unrolling_picture .main-svg').getBoundingClientRect().width > 600"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
