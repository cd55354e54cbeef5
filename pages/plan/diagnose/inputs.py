"""What the page is told: an error text, and the plan that it came from."""

from dataclasses import dataclass
from typing import Final

from core.budget.diagnosis.out_of_memory import OutOfMemory, read_out_of_memory
from core.language import _
from pages.shared.inputs import Inputs
from pages.shared.plan.plan import SPREAD, TRAINING, Chosen, choose_plan

ASK: Final = Inputs("diagnose")
MAX_CHARS: Final = 4000
# An example, of which one number is known: 1002.00 MiB are the token embedding or the head of
# Llama 3 8B in 16 bits. The others are made up; the words are those of torch since 2.2.
EXAMPLE: Final = (
    "CUDA out of memory. Tried to allocate 1002.00 MiB. GPU 0 has a total capacity of 79.10 GiB. "
    "Of the allocated memory 76.40 GiB is allocated by PyTorch, and 1.52 GiB is reserved by "
    "PyTorch but unallocated."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """An error's text, and the plan of the reader."""

    text: str
    chosen: Chosen

    def told(self) -> OutOfMemory:
        """Return what the text says, or raise a ValueError: a snapshot needs none."""
        return read_out_of_memory(self.text)


def choose_case() -> Case:
    text = ASK.text(
        "text",
        _("Paste the error"),
        default=EXAMPLE,
        max_chars=MAX_CHARS,
        help=_(
            "From “CUDA out of memory” to the end of that sentence; more does no harm. At first an "
            "example stands here."
        ),
    )
    settings = {
        _("Training"): ("length", *TRAINING),
        _("Devices"): SPREAD,
    }
    chosen = choose_plan(("model", "device", "devices"), settings)
    return Case(text=text, chosen=chosen)
