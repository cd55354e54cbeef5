"""The tabs of the cast page that ask others: this torch, the makers of chips, and the proof."""

from collections.abc import Callable, Mapping
from typing import Final

from pages.dtypes.rounding_and_overflow.hardware_table import hardware_headline, show_hardware
from pages.dtypes.rounding_and_overflow.inputs import Wish
from pages.dtypes.rounding_and_overflow.proof_button import proof_headline, show_proof
from pages.dtypes.rounding_and_overflow.your_torch import show_your_torch, torch_headline


def torch_tab(wish: Wish) -> str:
    """Show what this torch does and return that in a sentence."""
    show_your_torch(wish.text.strip(), wish.fmt)
    return torch_headline(wish.fmt)


def hardware_tab(wish: Wish) -> str:
    """Show which chips compute in the format and return how many."""
    show_hardware(wish.fmt)
    return hardware_headline(wish.fmt)


def proof_tab(_wish: Wish) -> str:
    """Show the proof and return what the last one found."""
    show_proof()
    return proof_headline()


LIBRARY_TABS: Final[Mapping[str, Callable[[Wish], str]]] = {
    "torch": torch_tab,
    "hardware": hardware_tab,
    "proof": proof_tab,
}
