"""The gradients page: a push and what is left of it; the way back from the end; slopes against weights."""

import math

import numpy as np
import plotly.graph_objects as go

from rnnviz.figures import theme
from rnnviz.results import Carried, Push

BOUND = "bound Π σ<sub>max</sub>(J)"
LAG = "lag k, steps back from the end"


def push(result: Push) -> go.Figure:
    """What is left of a push, n steps later, on an absolute log scale: truth, derivative, the most possible, the
    bounds."""
    fig = theme.figure()
    n = np.arange(len(result.left))
    seen = result.left > result.floor
    with np.errstate(divide="ignore"):
        left = np.where(seen, np.log10(result.left), np.nan)
    predicted, norm, bound = (theme.log10(v) for v in (result.predicted, result.log_norm, result.log_bound))
    if result.log_simple is not None:
        theme.line(fig, n, theme.log10(result.log_simple), "bound (γ σ<sub>max</sub>(W))ⁿ", theme.GREY, "dot")
    theme.line(fig, n, bound, BOUND, theme.GREY, "dash")
    theme.line(fig, n, norm, "the most any push keeps", theme.BLUE, "solid")
    theme.line(fig, n, predicted, "the derivative of this push", theme.ORANGE, "solid")
    fig.add_scatter(
        x=n,
        y=left,
        mode="markers",
        name="this push, truly",
        marker={"color": theme.RED, "size": 6, "symbol": "circle-open"},
    )
    _log_axis(fig, [left, predicted, norm], [bound])
    theme.cursor(fig, {"lag": 40}, x="lag")
    theme.level(fig, -2, "1 % left", above=False)
    hidden = int(np.count_nonzero(~seen))
    if hidden:
        largest = float(result.floor.max())
        below = f"rounding (below {theme.ten(round(math.log10(largest)))})" if largest > 0 else "0 in floats"
        note = f"<br>▼ {hidden} of {len(n)} differences are {below}, not drawn"
    else:
        note = ""
    x = f"steps after the push at step {result.step}{note}"
    fig.update_layout(xaxis_title=x, yaxis_title="share of the push left", margin_b=72 if note else 52)
    return fig


def back(result: Carried) -> go.Figure:
    """‖∂s_T/∂s_{T−k}‖ by lag k with its bound, and the reach."""
    fig = theme.figure()
    transport = result.transport
    k = np.arange(len(transport.log_norm))
    norm, bound = theme.log10(transport.log_norm[::-1]), theme.log10(transport.log_bound[::-1])
    theme.line(fig, k, bound, BOUND, theme.GREY, "dash")
    theme.line(fig, k, norm, "‖∂s<sub>T</sub>/∂s<sub>T−k</sub>‖", theme.BLUE, "solid")
    theme.line(fig, k, theme.log10(result.total), "random vectors carried back", theme.GREEN, "dashdot")
    _log_axis(fig, [norm, theme.log10(result.total)], [bound])
    theme.cursor(fig, {"lag": 40}, x="lag")
    if transport.reach is not None:
        theme.mark(fig, transport.reach, f" reach {transport.reach}", theme.REACH)
    fig.update_layout(xaxis_title=LAG, yaxis_title="share of the gradient left")
    return fig


def tug(result: Carried) -> go.Figure:
    """Slopes against weights: two logarithms that add up to the carried vectors' exactly."""
    fig = theme.figure()
    k = np.arange(len(result.total))
    if result.slopes is None or result.weights is None:
        fig.add_annotation(
            theme.note(
                "Gated cells have no such split:<br>their gradient travels by the direct path and through each gate."
            )
        )
        return fig
    slopes, weights, total = (theme.log10(v) for v in (result.slopes, result.weights, result.total))
    theme.line(fig, k, weights, "weights ‖WᵀDu‖/‖Du‖", theme.BLUE, "dash")
    theme.line(fig, k, slopes, "slopes ‖Du‖/‖u‖", theme.RED, "dot")
    theme.line(fig, k, total, "together", theme.GREEN, "solid")
    _log_axis(fig, [weights, slopes, total], [])
    theme.tell(fig, heard=False)
    theme.cursor(fig, {"lag": 40}, x="lag")
    fig.update_layout(xaxis_title=LAG, yaxis_title="factor")
    return fig


def _log_axis(fig: go.Figure, shown: list[np.ndarray], bounds: list[np.ndarray]) -> None:
    """Room for what is shown; a bound far above it leaves the picture, with its exponent at the edge, rather than
    flattening everything else."""
    values = np.concatenate([v[np.isfinite(v)] for v in shown])
    low, high = (float(values.min()), float(values.max())) if values.size else (-1.0, 1.0)
    low, high = min(low, -2.5), max(high, 0.5)
    tops = [float(b[np.isfinite(b)].max()) for b in bounds if np.isfinite(b).any()]
    high = max([high, *(min(t, high + 0.5 * (high - low)) for t in tops)])
    theme.decades(fig, low, high)
    theme.tell(fig, heard=True)
