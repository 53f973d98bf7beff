"""The proofs of a word's numbers: they agree with what is right, and part from what is not."""

from dataclasses import replace

import numpy as np
import pytest

from rnnviz.config import CellConfig
from rnnviz.results import BY_DIFFERENCE
from rnnviz.tasks.letters import learn, nudged, read
from rnnviz.tasks.proofs import proved


def all_of(word, hidden=3, steps=40):
    cell = CellConfig(inputs=len(set(word)), hidden=hidden)
    learned = learn(cell, word, steps)
    return cell, learned, read(cell, learned), nudged(cell, learned, min(1, len(word) - 1), 0.1)


@pytest.mark.parametrize(("word", "count"), [("HELLO", 5), ("A", 2), ("AB", 4), ("CAT", 4), ("abcabd" * 30, 5)])
def test_every_number_is_found_again(word, count):
    found = proved(*all_of(word))
    assert len(found) == count
    for proof in found:
        for route, value in proof.routes.items():
            assert value == pytest.approx(proof.value, rel=1e-7 if route == BY_DIFFERENCE else 1e-10, abs=1e-12), route


def test_a_wrong_number_is_found_out():
    cell, learned, reading, push = all_of("HELLO")
    wrong = replace(reading, states=reading.states + 0.01 * np.arange(3), loss=reading.loss * 1.001, floor=0.35)
    names = [proof.name for proof in proved(cell, learned, wrong, push) if proof.apart > 1e-4]
    assert names[:2] == ["loss, nats a letter", "floor without memory"]
    assert "most that step 2 passes on" in names
    shifted = replace(push, predicted=push.predicted + 1e-3)
    assert proved(cell, learned, reading, shifted)[-1].apart == pytest.approx(1e-3, rel=0.01)
    apart = replace(reading, states=reading.states * np.linspace(1, 1.1, 6)[:, None])
    assert proved(cell, learned, apart, push)[0].apart > 1e-3


def test_what_has_no_such_proofs_is_refused():
    with pytest.raises(ValueError, match="tanh RNN"):
        proved(CellConfig(cell="gru", inputs=4, hidden=3), *all_of("HELLO")[1:])
