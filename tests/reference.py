"""Slow second implementations, written from the equations; nothing here imports rnnviz.

A kind is Elman's activation ("tanh", "relu", "sigmoid", "linear"), "lstm", or a GRU by its reset: "before", "after".
Weights are named as in rnnviz. A state is one flat vector: h, for the LSTM h and then c.
A clamp is (gate, value, units or None for all, first step, last step or None for the end), steps counted from 1.
"""

import numpy as np
import torch

GATES = {"lstm": "ifgo", "before": "zrn", "after": "zrn"}
KINDS = ("tanh", "relu", "sigmoid", "linear", "lstm", "before", "after")


def random_weights(kind, inputs, hidden, seed, dtype=torch.float64, scale=1.0):
    """Normal weights of standard deviation scale, and biases of their own for every gate."""
    generator = torch.Generator().manual_seed(seed)
    blocks = [("W_x", "W_h", "b")] if kind not in GATES else [(f"W_{k}", f"U_{k}", f"b_{k}") for k in GATES[kind]]
    shapes = {name: shape for row in blocks for name, shape in zip(row, ((inputs,), (hidden,), ()), strict=True)}
    if kind == "after":
        shapes["c_n"] = ()
    return {
        name: scale * torch.randn(hidden, *shape, generator=generator, dtype=torch.float64).to(dtype)
        for name, shape in shapes.items()
    }


# ---------------------------------------------------------------- one step, number by number


def times(W, v):
    rows = [sum(W[i][j] * v[j] for j in range(len(v))) for i in range(len(W))]
    return np.array(rows)


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


ACTIVATIONS = {"tanh": np.tanh, "relu": lambda a: np.maximum(a, 0), "sigmoid": sigmoid, "linear": lambda a: a}


def clamped(gate, value, t, clamps):
    value = value.copy()
    for name, held, units, first, last in clamps:
        if name == gate and first <= t and (last is None or t <= last):
            for unit in range(len(value)) if units is None else units:
                value[unit] = held
    return value


def step(kind, p, x, s, t=1, clamps=()):
    """The next state and what made it, of numpy arrays; complex states are welcome."""
    if kind in ACTIVATIONS:
        a = times(p["W_x"], x) + times(p["W_h"], s) + p["b"]
        return ACTIVATIONS[kind](a), {"a": a}
    H = len(p["U_i" if kind == "lstm" else "U_z"])
    h = s[:H]
    made = {}

    def gate(k, squash, a):
        made[f"a_{k}"] = a
        made[k] = clamped(k, squash(a), t, clamps)
        return made[k]

    def drive(k):
        return times(p[f"W_{k}"], x) + p[f"b_{k}"]

    if kind == "lstm":
        c = s[H:]
        i, f, o = (gate(k, sigmoid, drive(k) + times(p[f"U_{k}"], h)) for k in "ifo")
        g = gate("g", np.tanh, drive("g") + times(p["U_g"], h))
        c = f * c + i * g
        return np.concatenate((o * np.tanh(c), c)), made
    z, r = (gate(k, sigmoid, drive(k) + times(p[f"U_{k}"], h)) for k in "zr")
    if kind == "before":
        n = gate("n", np.tanh, drive("n") + times(p["U_n"], r * h))
    else:
        n = gate("n", np.tanh, drive("n") + r * (times(p["U_n"], h) + p["c_n"]))
    return (1 - z) * h + z * n, made


def run(kind, weights, x, states, lengths=None, clamps=()):
    """Every sequence by itself: name -> array, "s" [time+1, batch, state] and gates [time, batch, hidden]."""
    p = {name: value.numpy() for name, value in weights.items()}
    x, columns = x.numpy(), []
    for b in range(x.shape[1]):
        s = states[b]
        rows = {"s": [s]}
        for t in range(1, len(x) + 1):
            new, made = step(kind, p, x[t - 1, b], s, t, clamps)
            s = new if lengths is None or t <= lengths[b] else s
            rows["s"].append(s)
            for name, value in made.items():
                rows.setdefault(name, []).append(value)
        columns.append(rows)
    return {name: np.stack([np.stack(rows[name]) for rows in columns], 1) for name in columns[0]}


def jacobian(kind, weights, x, s, t=1, clamps=(), method="complex"):
    """ds'/ds by complex step, exact to rounding for what is analytic, or by central differences, good to 1e-9."""
    p = {name: value.numpy() for name, value in weights.items()}
    columns = []
    for j in range(len(s)):
        e = np.zeros(len(s))
        e[j] = 1
        if method == "complex":
            columns.append(step(kind, p, x, s + 1e-30j * e, t, clamps)[0].imag / 1e-30)
        else:
            ends = [step(kind, p, x, s + d * e, t, clamps)[0] for d in (1e-5, -1e-5)]
            columns.append((ends[0] - ends[1]) / 2e-5)
    return np.stack(columns, 1)


# ---------------------------------------------------------------- the gradient, by autograd


def torch_step(kind, p, x, s, t=1, clamps=()):
    """One step of one sequence on tensors with a graph; s is (h,) or (h, c)."""

    def hold(gate, value):
        for name, held, units, first, last in clamps:
            if name == gate and first <= t and (last is None or t <= last):
                mask = torch.zeros(len(value), dtype=torch.bool)
                mask[list(range(len(value)) if units is None else units)] = True
                value = torch.where(mask, torch.full_like(value, held), value)
        return value

    h = s[0]
    if kind in ACTIVATIONS:
        a = p["W_x"] @ x + p["W_h"] @ h + p["b"]
        return (a if kind == "linear" else getattr(torch, kind)(a),)
    if kind == "lstm":
        a = {k: p[f"W_{k}"] @ x + p[f"U_{k}"] @ h + p[f"b_{k}"] for k in "ifgo"}
        i, f, o = (hold(k, torch.sigmoid(a[k])) for k in "ifo")
        c = f * s[1] + i * hold("g", torch.tanh(a["g"]))
        return o * torch.tanh(c), c
    z, r = (hold(k, torch.sigmoid(p[f"W_{k}"] @ x + p[f"U_{k}"] @ h + p[f"b_{k}"])) for k in "zr")
    back = p["U_n"] @ (r * h) if kind == "before" else r * (p["U_n"] @ h + p["c_n"])
    n = hold("n", torch.tanh(p["W_n"] @ x + p["b_n"] + back))
    return ((1 - z) * h + z * n,)


def backward(kind, weights, x, states, grad_h, *, chunk=None, window=None, lengths=None, clamps=()):
    """dL for L = sum of grad_h * h by autograd: grads, [dL/dh_t, dL/dc_t] with row 0, dL/dx.

    chunk: the state is detached before steps k+1, 2k+1, ... window: each step's loss has a graph of its own, which
    starts from the detached state k steps before. states: [batch, hidden] for h, and for c.
    """
    p = {name: value.clone().requires_grad_() for name, value in weights.items()}
    x = x.clone().requires_grad_()
    time, batch, _ = x.shape
    delta = [torch.zeros(time + 1, batch, part.shape[-1], dtype=x.dtype) for part in states]
    for b in range(batch):
        length = time if lengths is None else lengths[b]

        def forward(s, t, b=b, length=length):
            return torch_step(kind, p, x[t - 1, b], s, t, clamps) if t <= length else tuple(part * 1 for part in s)

        values = [tuple(part[b] for part in states)]
        for t in range(1, time + 1):
            values.append(tuple(part.detach() for part in forward(values[-1], t)))
        spans = [(1, time)] if window is None else [(max(1, t - window + 1), t) for t in range(1, time + 1)]
        for first, last in spans:
            s = tuple(part.clone().requires_grad_() for part in values[first - 1])
            nodes, loss = {first - 1: s}, torch.zeros((), dtype=x.dtype)
            for t in range(first, last + 1):
                if chunk is not None and t > 1 and (t - 1) % chunk == 0:
                    s = tuple(part.detach().requires_grad_() for part in s)
                s = nodes[t] = forward(s, t)
                for part in s:
                    part.retain_grad()
                if window is None or t == last:
                    loss = loss + (grad_h[t - 1, b] * s[0]).sum()
            loss.backward()
            for t, node in nodes.items():
                for total, part in zip(delta, node, strict=True):
                    if part.grad is not None and (t >= first or t == 0):
                        total[t, b] += part.grad
    grads = {name: torch.zeros_like(value) if value.grad is None else value.grad for name, value in p.items()}
    return grads, delta, torch.zeros_like(x) if x.grad is None else x.grad
