"""The unrolling page in Chromium: drawn numbers are the package's, nothing is sent for a cursor, any text is read."""

import numpy as np
import pytest

from rnnviz.scenes import SCENES
from rnnviz.ui import caches_unrolling as caches
from rnnviz.ui import links
from rnnviz.ui.controls import CONTROLS
from rnnviz.verdicts import digits

CHAIN, FOLDED = ".st-key-unrolling_chain", ".st-key-unrolling_folded"
DRAWN = f"""() => [...document.querySelectorAll('{CHAIN} [data-step]')].map(column => {{
    const texts = selector => [...column.querySelectorAll(selector)].map(node => node.textContent);
    const titles = selector => [...column.querySelectorAll(`${{selector}} title`)].map(node => node.textContent);
    return {{
        step: Number(column.dataset.step),
        letter: column.querySelector('.rnn-letter:not(.rnn-says)')?.firstChild.textContent,
        state: [...column.querySelectorAll('.rnn-plate ~ title')].map(node => node.textContent),
        numbers: [...column.querySelectorAll('.rnn-plate ~ .rnn-number')].map(node => node.textContent),
        shares: titles('.rnn-bar-now'),
        says: texts('.rnn-says')[0], share: texts('.rnn-share')[0],
        left: texts('.rnn-number').filter(text => /^[■□]/.test(text)),
        nudged: column.querySelector('.rnn-gone')?.closest('g').getAttribute('visibility') !== 'hidden',
        twin: column.querySelector('.rnn-twin')?.getAttribute('visibility') !== 'hidden',
    }};
}}).sort((a, b) => a.step - b.step)"""
TERMS = (
    f"() => [...document.querySelectorAll('{FOLDED} .rnn-equation td.rnn-number')].map(c => [c.textContent, c.title])"
)


def settings(**changed):
    known = {scene.name: dict(scene.settings) for scene in SCENES["unrolling"]}
    return links.base(CONTROLS["unrolling"], known, "twins") | changed


def number(exact):
    return float(exact.replace("−", "-"))


def percent(share):
    return f"{digits(100 * share)} %" if share == 0 or share >= 0.001 else digits(share)


def choose(page, step):
    box = page.locator(f"{CHAIN} .rnn-box").first
    box.fill(str(step))
    box.press("Enter")
    page.wait_for_function(
        "([f, t]) => document.querySelector(`${f} .rnn-equation table:last-child th:last-child`)?.textContent === t",
        arg=[FOLDED, f"h{step}"],
    )


def test_every_number_drawn_is_the_packages_and_no_plotly_is_needed(page, settled):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/unrolling")
    settled(page)
    page.wait_for_selector(f"{FOLDED} .rnn-equation td")
    assert not [url for url in asked if "plotly" in url]
    page.get_by_text("Nudge: the reach").click()
    page.wait_for_selector(".rnn-gone", state="attached")
    reading, push = caches.reading(settings())
    columns = page.evaluate(DRAWN)
    assert [column["step"] for column in columns] == [0, 1, 2, 3, 4, 5]
    for column in columns:
        t = column["step"]
        assert [number(text) for text in column["state"]] == reading.states[t].tolist()
        assert [text.lstrip("+") for text in column["numbers"]] == [digits(float(v)) for v in reading.states[t]]
        if not t:
            continue
        assert column["letter"] == "HELLO"[t - 1]
        pairs = [text.split(": ")[1].split(", untrained ") for text in column["shares"]]
        assert [[number(v) for v in pair] for pair in pairs] == [
            [float(now), float(then)] for now, then in zip(reading.answers[t - 1], reading.before[t - 1], strict=True)
        ]
        assert column["says"] == f"{reading.says[t - 1]} {'✓' if t < 5 else '?'}"
        assert column["share"] == percent(float(reading.answers[t - 1].max()))
        assert column["twin"] == (t in (3, 4))
        truth, derivative = float(push.left[t - 1]), float(np.exp(push.predicted[t - 1]))
        assert column["left"] == [f"■ {percent(truth)}", f"□ {percent(derivative)}"]
    W_x, W_h, b = (reading.weights[name] for name in ("W_x", "W_h", "b"))
    for t in (4, 1):
        choose(page, t)
        letter = "HELO".index("HELLO"[t - 1])
        a = W_x[:, letter] + W_h @ reading.states[t - 1] + b
        wanted = [[W_x[u, letter], *W_h[u], reading.states[t - 1, u], b[u], a[u]] for u in range(3)]
        terms = page.evaluate(TERMS)
        assert [number(exact) for _, exact in terms] == pytest.approx(
            [float(v) for row in [*wanted, reading.states[t]] for v in row], abs=1e-15
        )
        assert [text for text, _ in terms] == [digits(number(exact)) for _, exact in terms]

    # a drawing is a file too, as it looks, with nothing of the page needed
    for kind, begins in (("SVG", b"<svg "), ("PNG", b"\x89PNG")):
        page.locator(f"{CHAIN} .rnn-menu summary").click()
        with page.expect_download() as saved:
            page.get_by_role("button", name=f"Save {kind}").click()
        content = saved.value.path().read_bytes()
        assert saved.value.suggested_filename == f"unrolling_chain.{kind.lower()}"
        assert content.startswith(begins)
        assert len(content) > 10_000
        assert kind == "PNG" or digits(float(reading.states[4, 1])) in content.decode()

    # the same weights light up in both drawings
    page.locator(f"{FOLDED} .rnn-weights > button").last.focus()
    assert page.locator(".rnn-cell[data-lit=W_h]").count() == 2
    page.locator(f"{CHAIN} text[data-weight=W_x]").nth(2).click()  # and stay lit once clicked
    page.mouse.move(5, 5)
    page.wait_for_function("() => document.querySelectorAll('.rnn-cell[data-lit=W_x]').length === 2")


def test_a_text_of_one_s_own_scrubs_without_a_message(page, settled):
    sent = []
    page.goto("/unrolling?unrolling_units=2")
    settled(page)
    box = page.get_by_role("textbox", name="Word")
    text = "she sells sea shells by the sea shore; " * 3
    box.fill(text)
    box.press("Enter")
    page.get_by_text("read the same l").wait_for()
    page.wait_for_function(f"() => document.querySelector('{CHAIN} .rnn-slide')?.max === '117'")
    page.wait_for_timeout(300)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.webSocketFrameSent", lambda frame: sent.append(frame))
    place = page.locator(f"{CHAIN} .rnn-slide").first.bounding_box()
    middle = place["y"] + place["height"] / 2
    seen = set()
    page.mouse.move(place["x"] + 10, middle)
    page.mouse.down()
    for k in range(120):
        page.mouse.move(place["x"] + 10 + k * (place["width"] - 20) / 119, middle)
        seen.add(page.locator(f"{CHAIN} .rnn-box").first.input_value())
    page.mouse.up()
    page.wait_for_url("**at_step=1**")
    assert len(seen) > 60
    assert sent == []
    reading, _ = caches.reading(settings(word=text, units=2))
    for column in page.evaluate(DRAWN):
        assert [number(v) for v in column["state"]] == pytest.approx(reading.states[column["step"]].tolist(), abs=1e-9)
        assert column["letter"].strip("␣ ") == text[column["step"] - 1].strip()

    # what cannot be read is refused in words, and the view stays
    drawn = page.evaluate(DRAWN)
    box.fill("")
    box.press("Enter")
    page.get_by_text("is too short").wait_for()
    settled(page)
    assert page.evaluate(DRAWN) == drawn


def test_own_numbers_are_pasted_or_loaded_or_refused_and_the_view_stays(page, settled):
    page.goto("/unrolling?unrolling_why=lab&unrolling_feed=own&unrolling_hidden=4")
    settled(page)
    lab = page.locator(".st-key-unrolling_lab_cell .rnn-slide, .st-key-unrolling_lab_heat .rnn-slide").first
    lab.wait_for()
    assert lab.get_attribute("max") == "12"
    area = page.get_by_role("textbox", name="Own numbers")
    area.fill("a;b\n0,5;1\n0,25;zero\n")
    area.press("Control+Enter")
    page.get_by_text("row 3, column 2").wait_for()
    settled(page)
    assert lab.get_attribute("max") == "12"
    assert "zero" in area.input_value()  # to be mended, not lost
    page.locator("input[type=file]").set_input_files(
        {"name": "own.csv", "mimeType": "text/csv", "buffer": b"time,value\n" + b"0.5,1\n" * 150}
    )
    page.wait_for_function("() => [...document.querySelectorAll('.rnn-slide')].some(slide => slide.max === '150')")
    settled(page)
    assert page.get_by_text("cannot be used").count() == 0
    # both sequences have their own cursor, also in the address
    lab.focus()
    page.keyboard.press("End")
    page.wait_for_url("**at_lab_step=150**")
    page.wait_for_timeout(700)
    assert "at_step=" not in page.url


def test_the_first_screen_needs_no_scrolling(visit, ends_above):
    page = visit("/unrolling")
    page.wait_for_selector(f"{FOLDED} .rnn-equation td")
    for width, height in ((1440, 900), (1280, 720), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        for name in ("word", "units", "net"):
            ends_above(page, f".st-key-unrolling_{name}", height)


def test_on_a_phone_a_window_of_three_to_five_steps_follows_the_cursor(new_page, settled, screenshot):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto("/unrolling?unrolling_word=MISSISSIPPI")
    settled(page)
    page.wait_for_selector(f"{FOLDED} .rnn-equation td")
    for step in (11, 1, 6):
        choose(page, step)
        shown = [column["step"] for column in page.evaluate(DRAWN)]
        assert 3 <= len(shown) <= 5
        assert step in shown
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    chain, folded = (page.locator(selector).bounding_box()["y"] for selector in (CHAIN, FOLDED))
    assert chain < folded
    screenshot(page, "unrolling-phone")
