"""What the tabs of this page have in common: lengths of axes, their colours, units in code."""

from collections.abc import Sequence
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.figures.picture import Look
from core.language import _
from core.tensors.examples import EinsumExample, PatternExample
from pages.shared.inputs import Inputs

ASK: Final = Inputs("ein")
_SHORT: Final = """
def short(value, base, units):
    for unit in units:
        if value < base * 0.9995 or unit == units[-1]:
            break
        value /= base
    digits = 0 if unit == "B" or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:,.{digits}f} {unit}"

size = lambda num_bytes: short(num_bytes, BASE, ("B", "KB", "MB", "GB", "TB"))
work = lambda flops: short(flops, 1000, ("FLOPs", "kFLOPs", "MFLOPs", "GFLOPs", "TFLOPs"))
"""
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

    Inputs are called by `word` and the place of an axis. Returns the chosen axis, the length of
    each, and where further settings stand.
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


def axis_color(name: str, names: Sequence[str], look: Look) -> str:
    """Return the colour of an axis: its place among all names decides; numbers are muted."""
    return look.color(f"axis_{names.index(name) + 1}" if name in names else "muted")


def mixed(color: str, share: float, look: Look) -> str:
    """Return a colour laid over the page's background: `share` 1 is the colour itself."""
    ground = look.color("background")
    parts = [
        round(share * int(color[at : at + 2], 16) + (1 - share) * int(ground[at : at + 2], 16))
        for at in (1, 3, 5)
    ]
    return "#{:02x}{:02x}{:02x}".format(*parts)


def written(unit: str) -> str:
    """Return functions that write bytes and FLOPs as the page does, in the reader's unit."""
    binary = unit == "GiB"
    text = _SHORT.strip().replace("BASE", "1024" if binary else "1000")
    prefixes = ("Ki", "Mi", "Gi", "Ti") if binary else ("k", "M", "G", "T")
    for plain, prefix in zip("KMGT", prefixes, strict=True):
        text = text.replace(f'"{plain}B"', f'"{prefix}B"')
    return text
