"""The gates page's figures: what is drawn is what was computed, on scales that do not move with it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rnnviz.analysis.gates import hand, layer, parting
from rnnviz.config import CellConfig, InputConfig
from rnnviz.figures import gates, gates_why, theme
from rnnviz.results import Parting, Paths


@pytest.fixture(scope="module")
def unit():
    return hand(5.0, -5.0, 10.0, length=30, seed=7)


def make(kind="lstm", hidden=6, length=20, **fields):
    config = CellConfig(cell=kind, inputs=2, hidden=hidden, **fields)
    return layer(config, InputConfig(kind="adding", length=length, seed=7))


def named(figure, start):
    (found,) = [trace for trace in figure.data if trace.name and trace.name.startswith(start)]
    return found


def texts(figure):
    return " | ".join(note.text for note in figure.layout.annotations)


def test_the_ribbons_are_the_gates_the_level_and_the_answer(unit):
    shown, _ = unit
    figure = gates.picture(shown)
    for name in "fig":
        trace = named(figure, f"{gates.WORDS[name]} {name}")
        np.testing.assert_array_equal(trace.y, shown.gates[name])
        assert trace.line.color == theme.GATES[name]
    np.testing.assert_array_equal(named(figure, "level c").y, shown.level)
    np.testing.assert_array_equal(named(figure, "answer").y, shown.answer)
    np.testing.assert_array_equal(named(figure, "right").y, shown.truth)
    assert figure.layout.xaxis.title.text.endswith(
        f"answer {shown.answer[-1]:.2f}, right (dashed) is {shown.truth[-1]:.2f}"
    )


def test_both_marks_stand_there_with_their_values_also_when_close_together(unit):
    shown, _ = unit
    figure = gates.picture(shown)
    assert [shape.x0 for shape in figure.layout.shapes] == shown.marks.tolist()
    for t in shown.marks:
        assert f"▼ {shown.inputs[t - 1, 0]:.2f}" in texts(figure)
    inputs = shown.inputs.copy()
    inputs[:, 1] = np.isin(np.arange(30), (14, 15))
    close = gates.picture(replace(shown, inputs=inputs))
    assert [note.xanchor for note in close.layout.annotations if note.name == "mark"] == ["right", "left"]


@pytest.mark.parametrize(("kind", "names"), [("lstm", "ifgoc"), ("gru", "zrnh")])
def test_the_carpets_are_all_gates_and_the_state_on_absolute_scales(kind, names):
    shown, _ = make(kind)
    figure = gates.picture(shown)
    assert [trace.name for trace in figure.data] == list(names)
    for trace in figure.data:
        np.testing.assert_allclose(trace.z, shown.values[trace.name].T, atol=1e-7)
        assert trace.coloraxis == ("coloraxis" if trace.name in "ifozr" else "coloraxis2")
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)
    assert (figure.layout.coloraxis2.cmin, figure.layout.coloraxis2.cmax) == (-1, 1)


def test_units_can_stand_by_what_they_keep():
    shown, _ = make()
    figure = gates.picture(shown, "kept")
    assert (np.diff(named(figure, "f").z.mean(1)) <= 0).all()
    assert "most kept on top" in figure.layout.xaxis.title.text


def test_more_units_than_lines_are_drawn_as_means_and_said_so():
    shown, _ = make(hidden=100, length=5)
    figure = gates.picture(shown)
    f = named(figure, "f").z
    assert len(f) == 50
    np.testing.assert_allclose(f[3], shown.values["f"][:, 6:8].mean(1), atol=1e-7)
    assert "2 units' mean" in figure.layout.xaxis.title.text


def test_a_level_beyond_the_colours_is_said():
    shown, _ = make(forget_bias=8.0, hidden=16, length=100)
    largest = np.abs(shown.values["c"]).max()
    assert largest > 1
    assert f"c goes to {largest:.1f}, its colour ends at 1" in gates.picture(shown).layout.xaxis.title.text


def test_half_lives_draw_both_ways_and_the_formula():
    _, ways = make(forget_bias=1.0, hidden=16)
    figure = gates_why.half_lives(ways, 1.0, "lstm")
    np.testing.assert_allclose(named(figure, "direct").y, ways.direct / math.log(10))
    np.testing.assert_allclose(named(figure, "whole").y, ways.whole / math.log(10))
    np.testing.assert_allclose(named(figure, "σ(1)").y, -np.arange(21) * math.log10(1 + math.exp(-1)))
    assert "half-life 2.2" in named(figure, "direct").name
    drawn = [name for name in (trace.name for trace in gates_why.half_lives(ways, None, "lstm").data) if name]
    assert not any(name.startswith("σ") for name in drawn)
    assert "∂h" in named(gates_why.half_lives(make("gru")[1], None, "gru"), "whole").name


def test_a_whole_way_that_ends_is_minus_infinity_and_one_that_grows_has_no_half_life():
    zero = Paths(
        np.array([0, -1.0]), np.array([0, -2.0]), np.array([0, -0.5]), np.array([0, -math.inf]), 1, np.array([-1.0])
    )
    ends = gates_why.half_lives(zero, None, "gru")
    assert list(named(ends, "whole").y) == [0, -math.inf]
    assert np.isfinite(ends.layout.yaxis.range).all()
    assert (ends.layout.meta["decades"], ends.layout.meta["heard"]) == (["y"], True)
    assert ends.layout.meta["cursor"] == {"x": "lag"}
    grows = Paths(
        np.array([0, -1.0]), np.array([0, -2.0]), np.array([0, -0.5]), np.array([0, 2.0]), None, np.array([-1.0])
    )
    assert "it grows" in named(gates_why.half_lives(grows, None, "lstm"), "whole").name


def test_parting_draws_both_and_keeps_exact_zeros_as_minus_infinity():
    result = parting(CellConfig(cell="gru", inputs=2, hidden=4, reset="before"), InputConfig(kind="adding", length=12))
    figure = gates_why.parting(result)
    np.testing.assert_allclose(10 ** named(figure, "U_n").y[1:], result.apart[1:])
    assert result.apart[0] == 0
    assert named(figure, "U_n").y[0] == -math.inf
    equal = gates_why.parting(Parting(result.apart, np.zeros(12)))
    assert (named(equal, "the diagonal").y == -math.inf).all()
    for each in (figure, equal):
        low, high = each.layout.yaxis.range
        assert -20 < low < named(each, "U_n").y[1:].min() < high < 2
        assert each.layout.meta == {"decades": ["y"], "cursor": {"x": "step"}, "at": {}}


def test_the_cursor_of_a_picture_starts_at_its_first_mark(unit):
    shown, _ = unit
    assert gates.picture(shown).layout.meta == {"cursor": {"x": "step"}, "at": {"step": shown.marks[0]}}
    more, _ = make(hidden=100, length=20)
    for order in ("number", "kept"):
        figure = gates.picture(more, order)
        meta = figure.layout.meta
        assert meta["cursor"] == {"x": "step", **{trace.yaxis: "unit" for trace in figure.data}}
        assert meta["at"]["step"] == more.marks[0]
        first = meta["at"]["unit"] - 1  # units are counted from 1
        assert meta["lines"][first] == 0  # which stands on top
        f = named(figure, "f").z
        for line in range(len(f)):
            drawn = more.values["f"][:, np.asarray(meta["lines"]) == line].mean(1)
            np.testing.assert_allclose(f[line], drawn, atol=1e-7)


def test_histograms_count_every_value_once_on_one_scale():
    shown, _ = make("gru", hidden=9)
    charts = gates_why.histograms(shown)
    assert [chart.title.split()[1] for chart in charts] == ["z:", "r:", "n:"]
    for chart in charts:
        spec = chart.to_dict()
        bins = spec["data"]["values"]
        assert sum(row["share"] for row in bins) == pytest.approx(1)
        assert bins[0]["from"] == (-1 if "n:" in chart.title else 0)
    assert len({chart.to_dict()["encoding"]["y"]["scale"]["domain"][1] for chart in charts}) == 1


def test_saturation_is_counted_at_the_ends():
    values = np.array([0.01, 0.5, 0.95, 0.99])
    assert gates_why.saturated("f", values) == "25 % shut, 50 % open"
    assert gates_why.saturated("g", np.array([-0.95, 0.0, 0.5, 0.2])) == "25 % saturated"


def test_the_same_result_is_the_same_figure_and_stays_as_it_was(unit):
    shown, ways = unit
    before = {name: values.copy() for name, values in shown.columns.items()}
    assert gates.picture(shown) == gates.picture(shown)
    assert gates_why.half_lives(ways, 5.0, "unit") == gates_why.half_lives(ways, 5.0, "unit")
    gates_why.histograms(shown)
    for name, values in shown.columns.items():
        np.testing.assert_array_equal(values, before[name])
