"""Where a lab puts its things: the headline on top, its controls left, its picture right."""

from dataclasses import dataclass
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

PAGE: Final = "lowp"
_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Places:
    """Three places, filled in any order."""

    headline: DeltaGenerator
    controls: DeltaGenerator
    picture: DeltaGenerator


def lab_places() -> Places:
    """Lay out one lab."""
    top = st.container(gap=None)
    controls, picture = st.columns([1, 3], gap="medium")
    return Places(top, controls.container(gap="small"), picture)


def power_of_two(exponent: int) -> str:
    """Return 2 to a whole power as people write it.

    >>> power_of_two(16), power_of_two(-3)
    ('2¹⁶', '2⁻³')
    """
    return f"2{str(exponent).translate(_RAISED)}"
