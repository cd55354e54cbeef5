"""Which step of a program is looked at, and which element of its tensor."""

from collections.abc import Sequence
from operator import lt

import streamlit as st

from core.tensors.trace import Trace
from pages.components.tensor_map.tensor_map import steps_of
from pages.shared.inputs import Inputs


def chosen_place(ask: Inputs, ran: Trace, first: int) -> tuple[int, tuple[int, ...]]:
    """Return the step and the index that the setting `at` names, as far as they are there."""
    with st.container(key=f"bound_{ask.key('at')}"):  # a field that nobody sees
        said = ask.text("at", ask.key("at"), max_chars=60)
    steps = steps_of(ran)
    word, _colon, places = said.partition(":")
    is_there = word.isdecimal() and int(word) < len(steps)
    step = int(word) if is_there else first
    shape = next(each for each in ran.tensors if each.key == steps[step]["tensor"]).layout.shape
    index = tuple(int(place) for place in places.split(",") if place.isdecimal())
    fits = len(index) == len(shape) and all(map(lt, index, shape))
    return step, index if is_there and fits else telling_index(shape)


def telling_index(shape: Sequence[int]) -> tuple[int, ...]:
    """Return an index whose places differ, so that the strides can be told apart."""
    if 0 in shape:
        return ()
    last = len(shape) - 1
    return tuple(min(2 if axis == last else 1, length - 1) for axis, length in enumerate(shape))
