"""What the tabs measure, kept for the server; long runs wait in its pool for their turn."""

from functools import partial
from typing import Final

import streamlit as st

from core.autograd.accumulation import MicroBatches, micro_batches
from core.autograd.layer_stack import Stack
from core.autograd.recomputation import Comparison, Run, compare, sweep
from core.language import N_, _
from pages.shared.job import in_turn

_DOING: Final = N_("Running forward and backward …")


def compared(stack: Stack, segment: int) -> Comparison:
    """Return the stack without and with checkpoints, as it ran."""
    work = partial(_compared, stack, segment)
    return in_turn(f"segments {segment} {stack}", work, stack.flops, doing=_(_DOING))


def in_pieces(stack: Stack, num_pieces: int, *, is_divided: bool) -> MicroBatches:
    work = partial(_in_pieces, stack, num_pieces, is_divided=is_divided)
    name = f"pieces {num_pieces} {is_divided} {stack}"
    return in_turn(name, work, stack.flops, doing=_(_DOING))


@st.cache_data(max_entries=16, show_spinner=False)
def swept(stack: Stack) -> tuple[Run, ...]:
    return sweep(stack)


_compared = st.cache_data(max_entries=64, show_spinner=False)(compare)
_in_pieces = st.cache_data(max_entries=32, show_spinner=False)(micro_batches)
