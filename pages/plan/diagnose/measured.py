"""The peak that a run measured, beside the plan's, and where they differ."""

from collections.abc import Mapping, Sequence
from typing import Final

from core.budget.diagnosis.measured import CODE, MeasuredPeak, predicted
from core.budget.diagnosis.sentences import measured_sentence
from core.budget.item import Item
from core.budget.planning.plan import Plan
from core.figures.budget.device_bars import DeviceBar, bar_picture
from core.language import N_, _
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

REASONS: Final[Mapping[str, str]] = {
    "weights": N_("another model, another precision, or another way of sharding"),
    "gradients": N_("gradients that were None when it was measured, or in another precision"),
    "optimizer": N_("another optimizer, another precision of its state, or no step done yet"),
    "activations": N_(
        "another sequence length or micro-batch, other checkpointing, or code that keeps more"
    ),
}
"""Part of a peak -> what can explain that it differs."""
EXAMPLE: Final = """
model = torch.nn.Linear(512, 512, device="cuda" if torch.cuda.is_available() else "cpu")
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(8, 512, device=model.weight.device)).sum().backward()
    optimizer.step()
measured_peak(model, optimizer)
"""
_NEAR: Final = 0.02  # of the peak: nothing to explain


def show_measured(told: MeasuredPeak, plan: Plan) -> Shown:
    """Show the measured peak above the predicted one, and the part that differs most."""
    expected = predicted(plan)
    bars = [
        DeviceBar(_("measured"), told.parts, told.peak, told.peak),
        DeviceBar(_("the plan"), expected.children, expected.low, expected.high),
    ]
    picture = bar_picture(bars, plan.cluster.device.memory_usable, look(), named_above=True)
    return Shown(
        headline=measured_sentence(told, expected, look().unit),
        charts=[Chart(picture=picture, file_name="measured-peak")],
        notes=list(_notes(told, expected, plan)),
        code=CODE + EXAMPLE,
    )


def _notes(told: MeasuredPeak, expected: Item, plan: Plan) -> Sequence[str]:
    show, notes = look().format_bytes, []
    pairs = zip(told.parts, expected.children, strict=True)
    own, other = max(pairs, key=lambda pair: abs(pair[0].amount - pair[1].amount))
    if abs(own.amount - other.amount) > _NEAR * max(told.peak, 1):
        text = _(
            "The largest difference: {part}, {measured} measured and {predicted} predicted. It can "
            "be {reason}."
        )
        notes.append(
            text.format(
                part=_(own.name), measured=show(own.amount), predicted=show(other.amount),
                reason=_(REASONS[own.name]),
            )
        )  # fmt: skip
    if told.reserved:
        text = _("{reserved} were reserved; the plan predicts {need} with what is reserved beside.")
        notes.append(text.format(reserved=show(told.reserved), need=show(plan.need.amount)))
    return notes
