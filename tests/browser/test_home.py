"""The home page in Chromium: what is drawn is what was recorded, and no move of its cursor asks the server."""

from rnnviz.recorded import race
from rnnviz.results import HEARD, Moment
from rnnviz.verdicts import home as words

AT = """() => ['[data-id="at training"]', '.rnn-play'].map(
    (place) => document.querySelector(place)).map((node) => node?.title || node?.textContent)"""
DRAWN = """() => ({
    said: Object.fromEntries(
        [...document.querySelectorAll('.rnn-lanes [data-id]')].map(text => [text.dataset.id, text.textContent])),
    lit: [...document.querySelectorAll('.rnn-lane')].map(lane =>
        [...lane.querySelectorAll('.rnn-lit, .rnn-dark')].map(cell => cell.classList.contains('rnn-lit'))),
    verdict: document.querySelector('p.verdict')?.textContent,
})"""


def written(moment):
    """What Python would write at the places of the picture."""
    said = {
        "first": f"{moment.race.values[moment.value]:.2f}",
        "second": "0.45",
        "truth": f"truth {moment.truth:.2f} = {moment.race.values[moment.value]:.2f} + 0.45",
        "at training": f"{moment.step:,}",
        "at number": f"{moment.race.values[moment.value]:.2f}",
        "edge": f"▲ {max(lane.loss[0] for lane in moment.lanes.values()):.2f}",
    }
    for n, (cell, lane) in enumerate(moment.lanes.items()):
        reach = moment.reach(cell)
        said[f"loss {n}"] = f"{words.NAMES[cell]} {lane.loss[lane.at(moment.step)]:.3f}"
        said[f"reach {n}"] = f"{words.NAMES[cell]} {'all 100' if reach > 100 else int(reach)}"
        said[f"answer {n}"] = f"{words.NAMES[cell]} {words.two(moment.answer(cell))}"
    return {
        "said": said,
        "lit": [(moment.left(cell) >= HEARD).tolist() for cell in moment.lanes],
        "verdict": words.verdict(moment).text,
    }


def drawn(page, moment):
    """The picture, once it stands at the moment."""
    page.wait_for_function(f"said => ({DRAWN})().verdict === said", arg=words.verdict(moment).text)
    return page.evaluate(DRAWN)


def drag(page, start, end, steps):
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=steps)
    page.mouse.up()


def apart(page):
    """No text of the picture lies on another, and what stands below each other on the page does not overlap."""
    faults = page.evaluate("""() => {
        const boxes = (nodes) => [...nodes].filter(one => getComputedStyle(one).visibility !== 'hidden')
            .map(one => [one.textContent.slice(0, 30), one.getBoundingClientRect()]);
        const on = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5;  // a line is higher than its letters
        const faults = (all) => all.flatMap(([name, a], k) =>
            all.slice(k + 1).filter(([, b]) => on(a, b)).map(([other]) => `${name} on ${other}`));
        const blocks = ['p.claim', '.rnn-ground', '.rnn-foot', 'p.verdict', '.st-key-home_second', '.st-key-home_doors',
            '[data-testid=stCaptionContainer]'].map(name => document.querySelector(name));
        return [...faults(boxes(document.querySelectorAll('.rnn-lanes svg text'))), ...faults(boxes(blocks))];
    }""")
    assert faults == []


def middle(page, selector):
    box = page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_every_number_is_pythons_and_scrubbing_asks_nobody(page, settled, ends_above):
    asked, sent = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/?at_training=900")
    settled(page)
    page.wait_for_selector(".rnn-lanes svg text")
    assert page.locator(".st-key-home_doors a").count() == 4
    for width, height in ((1280, 720), (1024, 768), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        ends_above(page, ".st-key-home_second", height)
        apart(page)
    assert [len(lane) for lane in page.evaluate(DRAWN)["lit"]] == [100, 100]
    boxes = page.locator(".rnn-box")
    for step, value in ((900, 16), (0, 0), (1100, 20), (3200, 7)):
        for box, text in zip(boxes.all(), (str(step), f"{value / 20:.2f}"), strict=True):
            box.fill(text)
            box.press("Enter")
        moment = Moment(race(), "gru", step, value)
        assert drawn(page, moment) == written(moment)
    page.wait_for_timeout(500)

    # a hundred training steps and more, by the line's handle; then the number, by both of its own
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.webSocketFrameSent", lambda frame: sent.append(frame))
    knob, field = middle(page, ".rnn-knob >> nth=0"), page.locator("[data-grab=training]").bounding_box()
    drag(page, knob, (field["x"], knob[1]), steps=160)
    page.wait_for_url("**at_training=0&**")
    drag(page, middle(page, ".rnn-knob >> nth=1"), (page.viewport_size["width"] - 1, 400), steps=20)
    page.wait_for_url("**at_number=20")
    pill = middle(page, ".rnn-pill")
    drag(page, pill, (pill[0] - 8 * 5, pill[1]), steps=5)
    page.wait_for_url("**at_number=15")
    page.locator(".rnn-ground").focus()
    for key in ("ArrowUp", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    page.wait_for_url("**at_training=40&at_number=16")
    moment = Moment(race(), "gru", 40, 16)
    assert drawn(page, moment) == written(moment)
    assert sent == []

    # the cursor stays with another network, is what is kept, and is found again
    page.get_by_role("radio", name="LSTM").or_(page.get_by_test_id("stButtonGroup").get_by_text("LSTM")).first.click()
    moment = Moment(race(), "lstm", 40, 16)
    assert drawn(page, moment) == written(moment)
    settled(page)
    assert page.get_by_test_id("stCode").count() == 0
    page.get_by_text("Keep · link, code, data").click()
    page.get_by_test_id("stCode").filter(has_text="second='lstm', step=40, value=16").wait_for()
    assert page.get_by_test_id("stCode").filter(has_text="at_training=40&at_number=16").count() == 1
    page.reload()
    settled(page)
    assert drawn(page, moment) == written(moment)
    assert not [address for address in asked if "plotly" in address]


def test_it_plays_once_by_itself_until_its_end_or_a_key(page, new_page, settled):
    # every sentence that was ever read, with when it came and the number of the training step beside it
    page.add_init_script("""
        window.heard = [];
        const look = () => {
            const said = document.querySelector('p.verdict')?.textContent;
            const at = document.querySelector('[data-id="at training"]')?.textContent;
            if (said && at && window.heard.at(-1)?.[0] !== said) window.heard.push([said, performance.now(), at]);
            requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    """)
    page.goto("/")
    page.wait_for_function(f"() => ({AT})()[1] === 'Pause'")

    stopped = new_page()
    stopped.goto("/")
    stopped.wait_for_function(f"() => ({AT})()[1] === 'Pause'")
    stopped.keyboard.press("Shift")
    stopped.wait_for_function(f"() => ({AT})()[1] === 'Play'")
    step = stopped.evaluate(AT)[0]

    calm = new_page(reduced_motion="reduce")
    calm.goto("/")
    settled(calm)
    calm.wait_for_selector(".rnn-lanes svg text")
    calm.wait_for_timeout(600)
    assert calm.evaluate(AT) == ["900", "Play"]
    assert "at_" not in calm.url
    assert stopped.evaluate(AT) == [step, "Play"]
    assert int(step.replace(",", "")) < 1600

    page.wait_for_url("**at_training=1600", timeout=15_000)
    assert page.evaluate(AT) == ["1,600", "Play again"]
    end = Moment(race(), "gru", 1600, 16)
    assert "Drag the marked number: one answer follows." in drawn(page, end)["verdict"]
    told = [text for _, text in words.stages(end)]
    heard = page.evaluate("window.heard")
    while heard[0][0] not in told:  # what stood there before it began
        heard.pop(0)
    assert [said for said, _, _ in heard] == [*told, words.verdict(end).text]

    # the end of its time: again the same way, as slow; another page and back, and it stands where it was left
    page.get_by_role("button", name="Play again").click()
    page.wait_for_function(f"(said) => ({DRAWN})().verdict === said && ({AT})()[1] === 'Pause'", arg=told[0])
    page.get_by_role("button", name="Pause").click()
    page.wait_for_url("**at_training=*0")
    step = page.evaluate(AT)[0]
    assert int(step) < 100
    page.get_by_role("link", name="Gates").first.click()
    page.locator("h1.question", has_text="gate").wait_for()
    page.get_by_role("link", name="rnnviz").first.click()
    page.locator(".rnn-lanes svg text").first.wait_for()
    settled(page)
    assert page.evaluate(AT) == [step, "Play"]

    page.goto("/?at_training=1600")
    settled(page)
    page.wait_for_selector(".rnn-lanes svg text")
    assert page.evaluate(AT) == ["1,600", "Play again"]


def test_left_midway_it_plays_again_on_the_way_back(page, settled):
    page.goto("/")
    page.wait_for_function(f"() => ({AT})()[1] === 'Pause' && ({AT})()[0] !== '0'")
    page.get_by_role("link", name="Gates").first.click()
    page.locator("h1.question", has_text="gate").wait_for()
    page.wait_for_timeout(400)
    page.get_by_role("link", name="rnnviz").first.click()
    page.wait_for_function(f"() => ({AT})()[1] === 'Pause'")
    assert "at_" not in page.url
    page.mouse.click(700, 20)  # anywhere
    page.wait_for_function(f"() => ({AT})()[1] === 'Play'")
    page.wait_for_url("**at_training=*")


def test_what_is_no_number_of_the_cursor_leaves_the_address(page, settled):
    page.goto("/?home_second=lstm&at_training=-50&at_number=2.5")
    settled(page)
    page.wait_for_function("() => !location.search.includes('at_')")
    assert drawn(page, Moment(race(), "lstm", 900, 16))
    assert "home_second=lstm" in page.url


def test_a_finger_scrolls_up_and_down_taps_and_goes_sideways(new_page, settled):
    page = new_page(viewport={"width": 390, "height": 700}, has_touch=True)
    page.goto("/?at_training=900")
    settled(page)
    page.wait_for_selector(".rnn-lanes svg text")
    assert page.evaluate("document.querySelector('.stMain').scrollWidth <= 390")
    apart(page)
    touch = page.context.new_cdp_session(page)
    box = page.locator("[data-grab=training]").bounding_box()
    x, y = box["x"] + 0.7 * box["width"], box["y"] + 90

    def swipe(dx, dy):
        for k in range(7):
            kind = "touchMove" if k else "touchStart"
            points = [{"x": x + k * dx / 6, "y": y + k * dy / 6}]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    page.touchscreen.tap(x, y)
    page.wait_for_function(f"() => ({AT})()[0] > '2,000'")
    tapped = page.evaluate(AT)[0]
    swipe(-150, 0)
    page.wait_for_function(f"before => ({AT})()[0] !== before", arg=tapped)
    moved = page.evaluate(AT)[0]
    swipe(0, -150)
    page.wait_for_function(
        "top => document.querySelector('.rnn-ground').getBoundingClientRect().top < top - 20", arg=box["y"] - 160
    )
    page.wait_for_timeout(400)
    assert page.evaluate(AT)[0] == moved
