"""What the reader is asked to predict: who sees a write, of a view and of a copy."""

from functools import cache

from core.language import _
from core.tensors.presets import counted
from core.tensors.writes import Written, run_writes
from pages.shared.questions import Choice, predict_then_reveal
from pages.tensors.indexing_and_sharing.inputs import ASK

_PROGRAM = "y = x.t()\nz = x[:, [0, 2]]\ny[0, 1] = 100"


@cache
def _ran() -> Written:
    return run_writes(_PROGRAM, lambda: {"x": counted((2, 3))})


def ask_who_changes() -> None:
    """Ask which of three variables change; the program is run."""
    changed, kept = _ran().names
    everything = [*changed, *kept]
    choices = [
        Choice(
            _("y alone"),
            _("y is no tensor of its own: t() is a view, and the write goes into the storage that "
              "x has too."),
        ),
        Choice(_(" and ").join(changed)),
        Choice(
            _("all three: {names}").format(names=", ".join(everything)),
            _("A list of columns cannot be said with strides, so z has a storage of its own."),
        ),
        Choice(
            _("none: PyTorch refuses"),
            _("Only elements that share an address are refused, as after expand. A transpose has "
              "none."),
        ),
    ]  # fmt: skip
    predict_then_reveal(
        ASK.key("who_changes"),
        _(
            "x holds 0 to 5 in the shape (2, 3). Then y = x.t(), z = x[:, [0, 2]] and "
            "y[0, 1] = 100. Which variables change?"
        ),
        choices,
        _("{changed} change, {kept} does not: the write changed {count} address.").format(
            changed=_(" and ").join(changed), kept=", ".join(kept), count=_ran().num_addresses
        ),
    )
