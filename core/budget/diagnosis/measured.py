"""The peak of a run as its own program measured it, beside what the plan predicts."""

import json
import reprlib
from dataclasses import dataclass
from typing import Final

from core.budget.diagnosis.moments import step_totals
from core.budget.item import Formula, Item, item, total
from core.budget.planning.plan import Plan
from core.language import N_, _

MARK: Final = '"measured_peak"'
STATES: Final = ("weights", "gradients", "optimizer")
FIELDS: Final = (*STATES, "peak", "reserved")
_TOLD: Final = Formula("num_bytes")
_SOURCE: Final = N_("as the run's own program counted it")
CODE: Final = """
import json
import torch

def held(tensors):  # bytes on this device: of a sharded tensor its own part
    own = [getattr(each, "to_local", lambda each=each: each)() for each in tensors
           if torch.is_tensor(each)]
    return sum(each.numel() * each.element_size() for each in own)

def measured_peak(model, optimizer):  # after some steps, before the gradients are set to None
    weights = list(model.parameters())
    states = [each for state in optimizer.state.values() for each in state.values()]
    print(json.dumps({"measured_peak": {
        "weights": held(weights), "gradients": held(each.grad for each in weights),
        "optimizer": held(states), "peak": torch.cuda.max_memory_allocated(),
        "reserved": torch.cuda.max_memory_reserved(),
    }}))
"""
"""What a reader's own program runs; what it prints is read here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasuredPeak:
    """Bytes of one device of a run: its states, its highest point in tensors, what was reserved."""

    weights: int
    gradients: int
    optimizer: int
    peak: int
    reserved: int = 0

    @property
    def parts(self) -> tuple[Item, ...]:
        """The states and, as "activations", all else that lay in tensors at the peak."""
        sizes = {name: getattr(self, name) for name in STATES}
        sizes["activations"] = max(self.peak - sum(sizes.values()), 0)
        return tuple(
            item(name, _TOLD, {"num_bytes": size}, unit="bytes", kind="measured", source=_SOURCE)
            for name, size in sizes.items()
        )


def read_measured(text: str) -> MeasuredPeak:
    """Return what CODE has printed, alone or among other lines.

    Raises:
        ValueError: If a number is missing or no whole number of bytes, or the peak is 0.
    """
    start = text.rfind("{", 0, text.index(MARK))
    try:
        found, _end = json.JSONDecoder().raw_decode(text[max(start, 0) :])
        told = {name: found["measured_peak"][name] for name in FIELDS}
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise ValueError(
            _("A measured peak has the numbers {names}, as the code beside it prints them.").format(
                names=_(", ").join(FIELDS)
            )
        ) from error
    for name, number in told.items():
        if type(number) is not int or not 0 <= number < 2**60:
            raise ValueError(
                _("{name} is {value}; it must be a whole number of bytes.").format(
                    name=name, value=reprlib.repr(number)
                )
            )
    if not told["peak"]:
        raise ValueError(_("The measured peak is 0 bytes: it was measured without a GPU."))
    return MeasuredPeak(**told)


def predicted(plan: Plan) -> Item:
    """Return the bytes in tensors at the plan's peak, its parts named as those of a measured one.

    Raises:
        ValueError: If the model cannot be split as the plan says.
    """
    peak = max(step_totals(plan), key=lambda moment: moment.amount)
    named: dict[str, list[Item]] = {name: [] for name in (*STATES, "activations")}
    for part in peak.children:
        named[part.name if part.name in STATES else "activations"].append(part)
    nothing = item("", _TOLD, {"num_bytes": 0}, unit="bytes", kind="exact", source=peak.source)
    parts = [total(name, found or [nothing], source=peak.source) for name, found in named.items()]
    return total(peak.name, parts, source=peak.source)
