"""A question about sizes, its answer worked out from the same bytes."""

from dataclasses import dataclass
from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.weights.sizes import SIZES
from core.budget.weights.stored import weights_in
from core.language import _
from core.units import format_bytes
from pages.plan.model_sizes.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import unit_system

ASKED: Final = (
    ("llama-2-7b", "bfloat16"),
    ("llama-2-13b", "int8_channel"),
    ("llama-2-13b", "bfloat16"),
    ("qwen3-32b", "int4_group128"),
)
DEVICE: Final = DEVICES["rtx-4090"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Candidate:
    """One possible answer with its bytes."""

    label: str
    num_bytes: float

    @property
    def fits(self) -> bool:
        return self.num_bytes <= DEVICE.memory_usable


def ask_what_does_not_fit() -> None:
    """Ask which weights do not fit into a 24 GB device."""
    unit = unit_system()
    found = [_candidate(word, name) for word, name in ASKED]
    sizes = [f"{each.label} {format_bytes(each.num_bytes, unit)}" for each in found]
    choices = [Choice(each.label, _why_wrong(each) if each.fits else None) for each in found]
    predict_then_reveal(
        ASK.key("too_large"),
        _("Which weights do not fit into an {device} with {memory}?").format(
            device=DEVICE.name, memory=format_bytes(DEVICE.memory_usable, unit)
        ),
        choices,
        _(
            "Parameters times bytes each: {sizes}. And these are the weights alone: activations, "
            "KV cache and training states are not counted.",
            sizes=_(", ").join(sizes),
        ),
    )


def _candidate(word: str, format_name: str) -> _Candidate:
    size = SIZES[word]
    item = weights_in(size, format_name)
    label = _("{model} in {format}").format(model=size.name, format=f"`{format_name}`")
    return _Candidate(label=label, num_bytes=item.amount)


def _why_wrong(candidate: _Candidate) -> str:
    return _("{weights} are {memory}: they fit.").format(
        weights=candidate.label, memory=format_bytes(candidate.num_bytes, unit_system())
    )
