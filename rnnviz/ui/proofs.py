"""Prove it: a view's numbers beside the same by routes that share no code with them."""

from collections.abc import Sequence

import streamlit as st

from rnnviz.results import Proof
from rnnviz.verdicts import digits


def table(proofs: Sequence[Proof]) -> None:
    """A row a number: what it is, its equation, twelve digits here and by each route, and how far they are apart."""
    st.table(
        [
            {
                "number": proof.name,
                "equation": proof.equation,
                "here": f"{proof.value:.12g}",
                "by other routes": "; ".join(f"{route} {found:.12g}" for route, found in proof.routes.items()),
                "apart": digits(proof.apart),
            }
            for proof in proofs
        ]
    )
