"""The components in Chromium: one cursor, kept nodes, live columns, text that stays text, and how everything looks."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

CHOSEN = ".rnn-rule.rnn-chosen.rnn-x"


def chosen(page):
    """The step at which each chart has its line, as drawn."""
    return page.locator(CHOSEN).evaluate_all("rules => rules.map(rule => Number(rule.dataset.at))")


def wait_for_step(page, step):
    page.wait_for_function(
        "([rules, step]) => [...document.querySelectorAll(rules)].every(rule => Number(rule.dataset.at) === step)",
        arg=[CHOSEN, step],
    )


def test_a_drag_over_100_steps_moves_all_drawings_and_sends_nothing(states, settled):
    sent = []
    page = states("group", viewport={"width": 1440, "height": 2400})
    page.wait_for_function("rules => document.querySelectorAll(rules).length === 4", arg=CHOSEN)
    page.wait_for_timeout(500)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.webSocketFrameSent", lambda frame: sent.append(frame))
    box = page.locator(".rnn-field").nth(1).bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 100, middle)
    page.mouse.down()
    for k in range(120):
        page.mouse.move(box["x"] + 100 + k * (box["width"] - 110) / 119, middle)
    page.mouse.up()
    wait_for_step(page, 100)
    page.wait_for_url("**at_step=100")
    assert sent == []
    assert len(chosen(page)) == 4
    assert page.locator(".rnn-said").inner_text().startswith("step 100, unit 1: f ")
    values = page.locator(".rnn-chart").nth(1).locator(".rnn-value").all_inner_texts()
    assert all(values)
    assert len(values) == 6

    # it is in the address and in the browser: a rerun keeps it, a reload finds it again
    page.get_by_role("button", name="Run again").click()
    settled(page)
    assert chosen(page) == [100] * 4
    page.reload()
    settled(page)
    page.wait_for_function("rules => document.querySelectorAll(rules).length === 4", arg=CHOSEN)
    wait_for_step(page, 100)

    # over one chart all show, and none chooses
    page.mouse.move(box["x"] + 400, middle)
    page.wait_for_function("() => document.querySelectorAll('.rnn-rule.rnn-hovered.rnn-x:not([hidden])').length === 4")
    assert chosen(page) == [100] * 4


def test_keys_alone_reach_and_move_every_cursor(states):
    page = states("group", viewport={"width": 1440, "height": 2400})
    page.wait_for_selector(CHOSEN)
    focused = "() => document.activeElement.className"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(focused) == "rnn-slide":
            break
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    wait_for_step(page, 3)
    page.wait_for_function("() => document.activeElement.getAttribute('aria-valuetext').startsWith('step 3: line 1 ')")
    page.keyboard.press("End")
    wait_for_step(page, 100)
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "rnn-box"
    page.keyboard.press("Control+a")
    page.keyboard.type("41")
    page.keyboard.press("Enter")
    wait_for_step(page, 41)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(focused) == "rnn-stage":
            break
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    wait_for_step(page, 42)
    page.wait_for_url("**at_step=42&at_unit=2")
    assert page.locator(".rnn-said").inner_text().startswith("step 42, unit 2: ")


@pytest.mark.parametrize(("motion", "least", "most"), [("no-preference", 15, 60), ("reduce", 1, 4)])
def test_it_plays_and_pauses_and_calmly_where_less_motion_is_wished(states, motion, least, most):
    page = states("group", reduced_motion=motion)
    page.wait_for_selector(CHOSEN)
    page.locator(".rnn-speed").select_option("2")
    page.locator(".rnn-slide").focus()
    page.keyboard.press("Home")
    page.get_by_role("button", name="Play").click()
    page.wait_for_timeout(2300)
    page.get_by_role("button", name="Pause").click()
    wait_for_step(page, int(page.locator(".rnn-box").input_value()))
    at = chosen(page)[0]
    page.wait_for_timeout(400)
    assert chosen(page)[0] == at
    assert least <= at <= most
    page.get_by_role("button", name="One step back").click()
    wait_for_step(page, at - 1)


def test_zoom_node_pins_and_choices_outlast_a_change(visit, settled):
    page = visit("/jacobians")
    page.wait_for_selector(CHOSEN)
    page.evaluate("window.kept = document.querySelector('.js-plotly-plot')")
    tools = page.locator(".rnn-menu summary")
    for tool in ("Pin these curves", "Zoom by dragging"):
        tools.click()
        page.get_by_role("button", name=tool).click()
    box = page.locator(".rnn-field").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 700, box["y"] + 200, steps=5)
    page.mouse.up()
    ranges = "() => ['xaxis', 'yaxis'].map(name => window.kept._fullLayout[name].range)"
    page.wait_for_function(f"({ranges})()[0][0] > 5")
    before = page.evaluate(ranges)
    page.get_by_role("button", name="the derivative of this push").click()
    said = page.locator("p.verdict").inner_text()
    page.locator(".st-key-jacobians_gain input").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("said => document.querySelector('p.verdict').innerText !== said", arg=said)
    settled(page)
    page.wait_for_function("() => window.kept.data.length === 9")
    assert page.evaluate("window.kept === document.querySelector('.js-plotly-plot')")
    assert page.evaluate(ranges) == before
    shown = page.evaluate("window.kept.data.map(t => [t.name, t.visible])")
    assert ["the derivative of this push", "legendonly"] in shown
    assert "(pinned " in page.locator(".rnn-legend").inner_text()
    tools.click()
    page.get_by_role("button", name="Whole picture").click()
    page.wait_for_function(f"({ranges})()[0][0] < 1 && ({ranges})()[1][1] > 0.5")  # the y axis has a range of its own


def test_a_finger_that_scrolls_chooses_nothing_and_one_that_taps_or_goes_sideways_does(new_page, settled):
    page = new_page(viewport={"width": 390, "height": 700}, has_touch=True)
    page.goto("/jacobians")
    settled(page)
    page.wait_for_selector(CHOSEN)
    touch = page.context.new_cdp_session(page)
    box = page.locator(".rnn-field").bounding_box()

    def swipe(dx, dy):
        x, y = box["x"] + 150, box["y"] + 120
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for k in range(1, 7):
            point = {"x": x + k * dx / 6, "y": y + k * dy / 6}
            touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def moved_from(step):
        page.wait_for_function(
            "([rule, step]) => Number(document.querySelector(rule).dataset.at) !== step", arg=[CHOSEN, step]
        )
        return chosen(page)[0]

    before = chosen(page)[0]
    top = "() => document.querySelector('.rnn-field').getBoundingClientRect().top"
    swipe(0, -100)
    page.wait_for_function(f"top => ({top})() < top - 20", arg=box["y"])
    page.wait_for_timeout(500)
    assert chosen(page)[0] == before
    for _ in range(40):  # a tap while the page still glides only stops it
        box = page.locator(".rnn-field").bounding_box()
        page.touchscreen.tap(box["x"] + 150, box["y"] + 120)
        page.wait_for_timeout(400)
        if chosen(page)[0] != before:
            break
    tapped = moved_from(before)
    swipe(80, 0)
    assert moved_from(tapped) > tapped


def test_pictures_and_tables_are_saved(visit):
    page = visit("/jacobians")
    page.wait_for_selector(CHOSEN)
    starts = {"PNG": b"\x89PNG", "SVG": b"<svg", "CSV": b"series,x,y,value\r\n"}
    for kind, start in starts.items():
        page.locator(".rnn-menu summary").click()
        with page.expect_download() as saved:
            page.get_by_role("button", name=f"Save {kind}").click()
        content = saved.value.path().read_bytes()
        assert content.startswith(start), kind
        assert saved.value.suggested_filename == f"jacobians_figure.{kind.lower()}"
    rows = content.decode().split("\r\n")
    assert len([row for row in rows if row.startswith('"this push, truly')]) == 91


def test_every_state_is_drawn_as_it_should_be(states):
    page = states("states", viewport={"width": 1440, "height": 3600})
    page.wait_for_function("() => document.querySelectorAll('.js-plotly-plot .main-svg').length >= 18")
    page.wait_for_timeout(500)
    title = page.title()

    # markup is text, in every place where a text can stand
    assert page.locator(".rnn-chart img, .rnn-chart script").count() == 0
    assert page.locator(".rnn-entry", has_text="<img src=x onerror").count() == 2
    assert page.locator(".js-plotly-plot text", has_text="<img src=x onerror").count() >= 2
    assert page.title() == title

    def chart(name):
        return page.get_by_role("img", name=f"The state {name}.")

    # 10,000 points: about two thousand are drawn, and no peak is lost
    peaks = chart("10,000 points").evaluate(
        "p => [p.data[0].x.length, Math.max(...p.data[0].y), Math.min(...p.data[0].y)]"
    )
    assert 1500 < peaks[0] <= 2100
    assert peaks[1:] == [4, -4]
    # what lies beyond the range is marked with its exponent, zero as zero
    marks = chart("600 decades").evaluate("p => p.layout.annotations.map(note => note.text)")
    assert marks == ["▲ 10⁴²⁰", "▼ 0"]
    assert page.locator(".rnn-blank", has_text="Nothing to draw.").count() == 1
    # the words are the same for eyes and for screen readers
    described = page.evaluate(
        "id => document.getElementById(id).textContent", chart("600 decades").get_attribute("aria-describedby")
    )
    assert "below 1 % from 1 on" in described
    page.locator(".rnn-chart").nth(5).locator("summary").click()
    page.locator(".rnn-chart").nth(5).get_by_role("button", name="In words").click()
    assert page.get_by_text("below 1 % from 1 on").is_visible()


def serious(page):
    found = Axe().run(page).response["violations"]
    return {v["id"]: [n["html"][:200] for n in v["nodes"]] for v in found if v["impact"] in ("serious", "critical")}


@pytest.mark.parametrize("show", ["states", "cells", "group"])
def test_axe_finds_nothing_serious(states, show):
    page = states(show)
    page.wait_for_timeout(800)
    assert json.dumps(serious(page), indent=1) == "{}"


def test_dark_and_light_are_the_page_s_own(states):
    page = states("group", color_scheme="dark")
    page.wait_for_selector(CHOSEN)
    page.evaluate("window.kept = document.querySelector('.js-plotly-plot')")
    color = "() => window.kept._fullLayout.font.color"
    assert re.search("eceff2|236, ?239, ?242", page.evaluate(color))
    dark = page.evaluate(color)
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"dark => ({color})() !== dark", arg=dark)
    assert page.evaluate("window.kept === document.querySelector('.js-plotly-plot')")
