"""What the reader is asked to predict: which reshape sees a write, and which does not."""

from functools import cache

from core.language import _
from core.language.listing import listed
from core.tensors.examples import WRITE_PRESETS, counted
from core.tensors.writes import Written, run_writes
from pages.shared.questions import Choice, predict_then_reveal
from pages.tensors.indexing_and_sharing.inputs import ASK


@cache
def _ran() -> Written:
    return run_writes(WRITE_PRESETS["reshape"].source, lambda: {"x": counted((2, 3))})


def ask_who_changes() -> None:
    """Ask which of three variables change; the program is run."""
    changed, kept = _ran().names
    everything = [*changed, *kept]
    choices = [
        Choice(
            _("x alone"),
            _("The elements of x lie in the order that y asks for: strides can describe it, so y "
              "is a view of the same storage."),
        ),
        Choice(listed(changed)),
        Choice(
            _("all three: {names}").format(names=_(", ").join(everything)),
            _("After t() the elements do not lie in the order that z asks for, and no stride can "
              "reach them so: reshape has copied without saying so."),
        ),
        Choice(
            _("none: PyTorch refuses"),
            _("Only elements that share an address are refused, as after expand. Here none do."),
        ),
    ]  # fmt: skip
    predict_then_reveal(
        ASK.key("who_changes"),
        _(
            "x holds 0 to 5 in the shape (2, 3). Then y = x.reshape(6), z = x.t().reshape(6) and "
            "x[0, 1] = 100. Which variables change?"
        ),
        choices,
        _("{changed} change, {kept} does not: the write changed {count} address.").format(
            changed=listed(changed), kept=listed(kept), count=_ran().num_addresses
        ),
    )
