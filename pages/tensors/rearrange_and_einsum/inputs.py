"""What the tabs of this page have in common: lengths of axes."""

from collections.abc import Sequence
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.language import _
from core.tensors.pattern_examples import EinsumExample, PatternExample
from pages.shared.inputs import Inputs

ASK: Final = Inputs("ein")
LENGTHS: Final = (
    *range(1, 17), 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192, 16384,
    32768,
)  # fmt: skip


def length_settings(word: str, example: PatternExample | EinsumExample) -> dict[str, object]:
    """Return what an example writes into the inputs of `choose_lengths`."""
    lengths = {f"{word}_{place}": length for place, length in enumerate(example.lengths, 1)}
    return {f"{word}_axis": example.axis, **lengths}


def choose_lengths(
    word: str, label: str, names: Sequence[str], defaults: Sequence[int], *, looked_at: int
) -> tuple[str, dict[str, int], DeltaGenerator]:
    """Ask for an axis, for its length beside the picture, and for the others in the settings.

    Args:
        word: First part of the inputs' names in the address; an axis is called by its place.
        label: Of the choice of an axis.
        names: The axes, in order of appearance.
        defaults: Length of each place.
        looked_at: Place of the axis that is looked at, if no other is chosen.

    Returns:
        The chosen axis, the length of each, and the place of further settings.
    """
    places = tuple(range(1, len(names) + 1))
    default = min(looked_at, len(names))
    held = str(st.session_state.get(ASK.key(f"{word}_axis"), default))
    if held not in map(str, places):
        ASK.write(f"{word}_axis", default)
    chosen = ASK.segmented(
        f"{word}_axis",
        label,
        places,
        default=default,
        labels=lambda place: names[place - 1],
        help=_("The picture is coloured by the index along it; the slider below sets its length."),
    )
    beside = st.container()
    settings = st.popover(
        _("Settings"), icon=":material/tune:", key=ASK.key(f"{word}_settings"), width="stretch"
    )
    lengths = {}
    for place, name in zip(places, names, strict=True):
        with beside if place == chosen else settings:
            lengths[name] = ASK.select_slider(
                f"{word}_{place}",
                _("Length of {axis}").format(axis=name),
                LENGTHS,
                default=defaults[place - 1],
            )
    return names[chosen - 1], lengths, settings
