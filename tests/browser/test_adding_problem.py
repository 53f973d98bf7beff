"""A training run in Chromium: it streams while it trains, survives a refresh, is seen by others, and can be stopped."""

import re

# Long enough to be still on its way at the end of the test, on a slow machine too
LINK = "/adding_problem?adding_problem_T=200&adding_problem_hidden=64&adding_problem_steps=3200&adding_problem_cell=gru"

STOP = ".st-key-run_stop button"  # by its key: Streamlit has a Stop of its own, while a script runs


def step(page):
    """The step that the verdict speaks of; the one of before may stand beside it until the script has ended."""
    found = re.search(r"Step ([\d,]+):", page.locator("p.verdict").first.inner_text())
    return int(found[1].replace(",", "")) if found else -1


def wait_for_step(page, least):
    page.wait_for_function(
        """least => {
            const said = document.querySelector('p.verdict')?.innerText.match(/Step ([\\d,]+):/);
            return said && Number(said[1].replaceAll(',', '')) >= least;
        }""",
        arg=least,
        timeout=60_000,
    )


def test_the_recorded_race_is_the_first_picture_and_scrubs(visit):
    page = visit("/adding_problem")
    page.wait_for_selector(".js-plotly-plot .main-svg")
    assert step(page) == 900
    assert page.locator("p.verdict").inner_text().count("loss") == 3
    page.locator(".rnn-slide").focus()
    page.keyboard.press("Home")
    page.wait_for_function("() => document.querySelector('p.verdict').innerText.startsWith('Step 0:')")
    page.locator(".rnn-box").fill("2400")
    page.locator(".rnn-box").press("Enter")
    page.wait_for_url("**at_training=2400")
    assert step(page) == 2400
    page.reload()
    page.wait_for_function("() => document.querySelector('p.verdict')?.innerText.startsWith('Step 2,400:')")


def test_a_run_streams_is_seen_by_others_and_is_stopped_by_its_owner_only(visit, new_page, settled):
    page = visit(LINK)
    page.get_by_role("button", name="Train yours").click()
    page.wait_for_url(re.compile("run="))
    wait_for_step(page, 20)
    first = step(page)
    wait_for_step(page, first + 40)

    other = new_page()
    other.goto(page.url + "&adding_problem_why=gates")
    settled(other)
    wait_for_step(other, first + 40)
    other.wait_for_selector(".st-key-adding_problem_why_gates .js-plotly-plot")
    other.get_by_role("button", name="Continue as my own from here").wait_for()
    assert other.locator(STOP).count() == 0
    other.close()

    page.reload()
    settled(page)
    wait_for_step(page, first + 40)

    page.get_by_role("link", name="Gates").click()
    page.locator("h1.question", has_text="gate").wait_for()
    page.get_by_role("link", name="Learning").click()
    page.wait_for_url(re.compile("run="))
    wait_for_step(page, first + 40)

    # While somebody else watches, not even its owner stops it, and who has gone is counted for a while yet.
    stopped = page.get_by_text("Stopped: step")
    for _ in range(60):
        page.evaluate("stop => document.querySelector(stop)?.click()", STOP)  # between two ticks it may not be there
        page.wait_for_timeout(1000)
        if stopped.count():
            break
    assert stopped.count() == 1


def test_a_link_to_a_run_that_is_not_there_says_so(visit):
    page = visit("/adding_problem?run=nowhere")
    assert page.get_by_text("There is no such run").count() == 1
    page.wait_for_selector(".js-plotly-plot .main-svg")
