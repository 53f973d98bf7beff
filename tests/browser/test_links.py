"""Links in Chromium: wrong ones, and right ones that are the first thing a server ever sees."""

import pytest


def test_a_wrong_link_opens_the_nearest_view_with_a_line_and_its_address(visit, server):
    page = visit("/jacobians?jacobians_T=999999")
    page.wait_for_url(f"{server.url}/jacobians?v=1&jacobians_T=400")
    assert page.get_by_text("jacobians_T=999999 is outside 2 to 400; now 400.").count() == 1
    page.wait_for_selector(".js-plotly-plot .main-svg")
    assert not page.get_by_text("Traceback").count()


@pytest.mark.parametrize(
    ("link", "shows"),
    [
        ("/jacobians?jacobians_gain=1.5&jacobians_T=60", "over 60 steps the weights multiply by 10+10.6"),
        ("/unrolling?unrolling_units=4", "read the same L"),
        ("/?home_step=0", "RNN"),
    ],
)
def test_a_link_that_is_the_first_request_of_a_server_opens_its_view(start_server, new_page, settled, link, shows):
    page = new_page(server=start_server())
    page.goto(link)
    settled(page)
    page.locator("p.verdict", has_text=shows).wait_for(timeout=30_000)
    assert page.url.endswith(link.split("?")[1])


def test_home_has_a_name_too(visit, server):
    page = visit("/home?home_step=0")
    page.locator("p.verdict", has_text="RNN").wait_for()
    assert page.url == f"{server.url}/?v=1&home_step=0"


def test_below_a_page_is_the_page(visit, server):
    opened = visit("/gates/extra/more")
    opened.wait_for_url(f"{server.url}/gates")
    opened.wait_for_selector(".js-plotly-plot .main-svg")


def test_home_paints_before_torch_is_loaded(start_server, new_page, settled, tmp_path):
    (tmp_path / "torch.py").write_text("import time\ntime.sleep(600)\n")
    page = new_page(server=start_server(PYTHONPATH=str(tmp_path)))
    page.goto("/")
    page.wait_for_selector(".rnn-lanes svg text", timeout=30_000)
    assert page.locator("p.verdict").inner_text()
