"""What the tabs measure, kept for the server; long runs wait in its pool for their turn."""

from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

import streamlit as st

from core.autograd.accumulation import MicroBatches, micro_batches
from core.autograd.layer_stack import Stack
from core.autograd.recomputation import Comparison, Run, compare, sweep
from core.language import _
from pages.server.background import jobs

T = TypeVar("T")
_QUICK_FLOPS: Final = 10**9  # 50 ms on a laptop


def compared(stack: Stack, segment: int) -> Comparison:
    """Return the stack without and with checkpoints, as it ran."""
    return _in_turn(stack, f"segments {segment} {stack}", partial(_compared, stack, segment))


def in_pieces(stack: Stack, num_pieces: int, *, is_divided: bool) -> MicroBatches:
    """Return the whole batch and its micro-batches, as they ran."""
    work = partial(_in_pieces, stack, num_pieces, is_divided=is_divided)
    return _in_turn(stack, f"pieces {num_pieces} {is_divided} {stack}", work)


@st.cache_data(max_entries=16, show_spinner=False)
def swept(stack: Stack) -> tuple[Run, ...]:
    """Return runs with segments of every length."""
    return sweep(stack)


_compared = st.cache_data(max_entries=64, show_spinner=False)(compare)
_in_pieces = st.cache_data(max_entries=32, show_spinner=False)(micro_batches)


def _in_turn(stack: Stack, name: str, work: Callable[[], T]) -> T:
    """Run what is quick at once, and the rest in the server's pool.

    Raises:
        ValueError: If too much waits for the server.
    """
    if stack.flops < _QUICK_FLOPS:
        return work()
    with st.spinner(_("Running forward and backward …")):
        return jobs().finish(name, work)
