"""The pictures of a stack's states, of a state carried over, of a cost: what is drawn is what is known."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rnnviz.analysis.cost import counted
from rnnviz.analysis.leak import leaked
from rnnviz.analysis.states import states as stack
from rnnviz.config import CellConfig, InputConfig
from rnnviz.figures import states, theme
from rnnviz.figures.gates import WORDS
from rnnviz.results import Leaked
from rnnviz.verdicts import digits


def make(kind="lstm", hidden=5, layers=1, both=False, length=9, **fields):
    return stack(CellConfig(cell=kind, inputs=3, hidden=hidden, **fields), InputConfig(length=length), layers, both)


def named(figure, start):
    (found,) = [trace for trace in figure.data if trace.name and trace.name.startswith(start)]
    return found


def texts(figure):
    return " | ".join(note.text for note in figure.layout.annotations)


# ---------------------------------------------------------------- heat


def test_a_heat_map_is_the_values_on_a_scale_that_does_not_move_with_them():
    found = make()
    figure = states.heat(found, "layer 1")
    (trace,) = figure.data
    np.testing.assert_allclose(trace.z, found.values["layer 1"]["h"].T, rtol=1e-6)
    assert trace.x.tolist() == list(range(10))
    axis = figure.layout.coloraxis
    assert (axis.cmin, axis.cmax) == (-1, 1)
    assert axis.colorscale[0][1] == theme.SIGNED[0][1]
    assert figure.layout.meta["cursor"] == {"x": "step", "y": "unit"}
    assert figure.layout.meta["at"] == {"step": 1, "unit": 1}
    assert figure.layout.meta["lines"].tolist() == [0, 1, 2, 3, 4]


def test_a_gate_is_a_share_and_a_level_beyond_one_says_so():
    found = make()
    figure = states.heat(found, "layer 1", "f")
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)
    assert figure.data[0].x.tolist() == list(range(1, 10))
    full = make(forget_bias=9.0, input_bias=9.0, length=60)
    assert "the colour ends at 1" in states.heat(full, "layer 1", "c").layout.xaxis.title.text
    assert "the colour ends at 1" not in states.heat(full, "layer 1").layout.xaxis.title.text


def test_a_backward_layer_is_drawn_at_the_steps_that_it_read():
    found = make(both=True)
    figure = states.heat(found, "layer 1 ←")
    assert figure.data[0].x.tolist() == list(range(1, 11))
    assert not np.any(np.asarray(figure.data[0].z)[:, -1])
    assert figure.layout.xaxis.title.text == "step, read from the last to the first · a line is one unit"
    assert states.heat(found, "layer 1 ←", "o").data[0].x.tolist() == list(range(1, 10))


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("name", ["layer 1 →", "layer 1 ←"])
def test_every_value_of_every_cell_has_its_name_its_scale_and_one_place_for_a_step(kind, name):
    found = make(kind, both=True)
    for value, values in found.values[name].items():
        heat, units = states.heat(found, name, value), states.units(found, name, value)
        assert heat.data[0].name == units.layout.yaxis.title.text == f"{WORDS[value]} {value} of {name}"
        assert heat.layout.coloraxis.cmin == (0 if value in "fiozr" else -1)
        assert units.layout.yaxis.range[0] == pytest.approx(-0.04 if value in "fiozr" else -1.08, abs=1e-9)
        assert (np.abs(values) <= 1).all()
        assert heat.layout.xaxis.range == units.layout.xaxis.range
        sides = [(f.layout.margin.l, f.layout.margin.r) for f in (heat, units)]
        assert sides == [(64, 60)] * 2
        said = states.described(found, name, value)
        assert said.startswith(f"{WORDS[value].capitalize()} {value} of {name}, 5 units over 9 steps")
        assert ("read from the last to the first" in said) == name.endswith("←")
        read = values if len(values) == 9 else values[1:] if name.endswith("→") else values[:-1]
        low, high, mean = (digits(float(one)) for one in (read.min(), read.max(), read.mean()))
        assert said.endswith(f"from {low} to {high}, mean {mean}.")


def test_what_is_not_finite_is_said():
    found = make("rnn")
    h = found.values["layer 1"]["h"]
    h[3, 0] = np.nan
    assert states.described(found, "layer 1").endswith(", and not finite in places.")
    h[:] = np.inf
    assert states.described(found, "layer 1") == "State h of layer 1, 5 units over 9 steps: not finite."


def test_many_units_share_a_line():
    found = make("rnn", hidden=130)
    figure = states.heat(found, "layer 1")
    z = np.asarray(figure.data[0].z)
    assert len(z) == math.ceil(130 / 3)
    np.testing.assert_allclose(z[0], found.values["layer 1"]["h"][:, :3].mean(1), rtol=1e-5)
    assert figure.layout.meta["lines"][[0, 2, 3, 129]].tolist() == [0, 0, 1, 43]
    assert "3 units' mean" in figure.layout.xaxis.title.text


# ---------------------------------------------------------------- units


def test_few_units_have_a_line_each_told_apart_without_colour():
    found = make(hidden=8)
    figure = states.units(found, "layer 1", "c")
    assert [trace.name for trace in figure.data] == [f"unit {n}" for n in range(1, 9)]
    for unit, trace in enumerate(figure.data):
        np.testing.assert_array_equal(trace.y, found.values["layer 1"]["c"][:, unit])
    assert len({(trace.line.color, trace.line.dash) for trace in figure.data}) == 8
    assert figure.layout.meta["cursor"] == {"x": "step"}


def test_many_units_have_their_mean_and_extremes():
    found = make(hidden=20)
    figure = states.units(found, "layer 1")
    h = found.values["layer 1"]["h"]
    np.testing.assert_array_equal(named(figure, "mean of 20").y, h.mean(1))
    np.testing.assert_array_equal(named(figure, "least and most").y, h.min(1))
    np.testing.assert_array_equal(figure.data[0].y, h.max(1))
    assert [trace.name for trace in figure.data if (trace.name or "").startswith("unit")] == [
        f"unit {n}" for n in range(1, 5)
    ]


def test_the_scale_is_one_unless_values_go_beyond_it():
    assert states.units(make(), "layer 1").layout.yaxis.range == pytest.approx((-1.08, 1.08))
    assert states.units(make(), "layer 1", "o").layout.yaxis.range == pytest.approx((-0.04, 1.04))
    grown = make("rnn", activation="relu", recurrent="identity", gain=1.5)
    assert states.units(grown, "layer 1").layout.yaxis.range[1] > grown.values["layer 1"]["h"].max()


# ---------------------------------------------------------------- leak


def test_what_leaks_is_drawn_with_the_step_at_which_less_than_one_percent_is_left():
    found = leaked(CellConfig(inputs=4), InputConfig(length=60))
    figure = states.leak(found)
    line = named(figure, "the state h")
    seen = found.apart > found.floor
    np.testing.assert_allclose(np.asarray(line.y)[seen], np.log10(found.share[seen]))
    assert np.isnan(np.asarray(line.y)[~seen]).all()
    assert "below 1 % from step 8 on" in texts(figure)
    assert "1 % left" in texts(figure)
    assert figure.layout.meta["decades"] == ["y"]
    assert figure.layout.meta["heard"] is True
    assert len(figure.data) == 1


def test_an_lstm_also_shows_its_outputs_and_nothing_is_marked_that_does_not_come():
    found = leaked(CellConfig(cell="lstm", inputs=4, forget_bias=5.0), InputConfig(length=60))
    figure = states.leak(found)
    np.testing.assert_allclose(named(figure, "h alone").y, np.log10(found.h_share))
    assert "below 1 %" not in texts(figure)


def test_exact_zeros_stay_at_the_edge_rounding_is_named_and_nothing_is_said_to_be_nothing():
    once = states.leak(Leaked("rnn", np.array([2.0, 0.5, 0.0]), np.array([2.0, 0.5, 0.0]), 1e-15))
    assert np.asarray(once.data[0].y).tolist() == [0, math.log10(0.25), -math.inf]
    rounds = states.leak(Leaked("rnn", np.array([2.0, 1e-16, 1e-17]), np.array([2.0, 1e-16, 1e-17]), 1e-15))
    assert "the last 2 differ by rounding alone" in rounds.layout.xaxis.title.text
    nothing = states.leak(Leaked("rnn", np.zeros(3), np.zeros(3), 0.0))
    assert "nothing is carried over" in texts(nothing)
    assert not nothing.data
    grows = states.leak(Leaked("rnn", np.array([1.0, 1e9, np.inf]), np.array([1.0, 1e9, np.inf]), 0.0))
    assert grows.layout.yaxis.range[1] > 9


# ---------------------------------------------------------------- cost


def test_work_and_bytes_are_what_was_counted():
    several = [counted(CellConfig(cell="gru", inputs=4, hidden=3), InputConfig(length=T)) for T in (50, 5, 500)]
    figure = states.cost(several)
    short, *_, long = sorted(several, key=lambda one: one.steps)
    for start, field in (("reading", "forward"), ("its gradient", "backward"), ("bytes", "bytes")):
        trace = named(figure, start)
        assert trace.x.tolist() == pytest.approx([math.log10(T) for T in (5, 50, 500)])
        assert trace.text[0] == f"{getattr(short, field):,}"
        assert 10 ** trace.y[-1] == pytest.approx(getattr(long, field))
    np.testing.assert_array_equal(named(figure, "3T (n² + n d)").y, named(figure, "reading").y)
    assert named(figure, "bytes").yaxis == "y2"
    assert figure.layout.meta["decades"] == ["y", "y2"]
    assert "n = 3 units and d = 4 inputs" in figure.layout.xaxis.title.text


def test_one_cost_and_none_are_drawn_too():
    assert len(states.cost([counted(CellConfig(), InputConfig(length=1))]).data) == 4
    assert "Nothing was counted" in texts(states.cost([]))


def test_the_same_result_is_the_same_picture_and_is_left_alone():
    found = make(both=True)
    before = {name: value.copy() for name, value in found.values["layer 1 →"].items()}
    assert states.heat(found, "layer 1 →") == states.heat(found, "layer 1 →")
    assert states.units(found, "layer 1 →") == states.units(found, "layer 1 →")
    assert all(np.array_equal(before[name], found.values["layer 1 →"][name]) for name in before)
    leak = leaked(CellConfig(inputs=4), InputConfig(length=9))
    assert states.leak(leak) == states.leak(replace(leak))
