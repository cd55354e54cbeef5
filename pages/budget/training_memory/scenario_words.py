"""The words of scenarios: what their choices are called, and a table of several of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from core.budget.budget import Budget
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.comparison.difference import Step
from core.budget.formula import written
from core.budget.recipe import LoRA
from core.budget.training.scenario import CHOICES, Scenario
from core.language import N_, _
from core.units import format_bytes
from pages.budget.training_memory.words import (
    checkpointing_label,
    optimizer_label,
    profile_label,
    step_label,
)
from pages.shared.settings import unit_system

CHOICE_NAMES: Final[Mapping[str, str]] = {
    "model": N_("model"),
    "device": N_("device"),
    "num_devices": N_("devices"),
    "zero_stage": N_("ZeRO stage"),
    "tensor": N_("tensor ranks"),
    "sequence_parallel": N_("sequence parallel"),
    "pipeline": N_("pipeline stages"),
    "expert": N_("expert ranks"),
    "devices_per_node": N_("devices per node"),
    "network": N_("network"),
    "overlap": N_("overlap"),
    "batch_size": N_("batch size"),
    "seq_len": N_("sequence length"),
    "accumulation": N_("accumulation"),
    "precision": N_("precision"),
    "optimizer": N_("optimizer"),
    "step_kind": N_("optimizer's loop"),
    "checkpointing": N_("computed again"),
    "checkpoint_every": N_("layers of a run"),
    "profile": N_("implementation"),
    "loss_chunks": N_("pieces of the loss"),
    "lora": "LoRA",
}
_LABELS: Final[Mapping[str, Callable[[str], str]]] = {
    "precision": lambda key: _(PRECISIONS[key].label),
    "optimizer": optimizer_label,
    "step_kind": step_label,
    "checkpointing": checkpointing_label,
    "profile": profile_label,
}
VERDICTS: Final[Mapping[str, str]] = {
    "fits": N_("✓ fits"),
    "close": N_("~ close"),
    "too_big": N_("✗ too big"),
}


def choice_text(name: str, scenario: Scenario) -> str:
    """Return the value of a choice in the words of the page."""
    value = scenario.choices[name]
    if name in _LABELS:
        return _LABELS[name](value)
    if name in {"model", "device"}:
        return str(value.name)
    if isinstance(value, LoRA):
        return f"r{value.rank} {'+'.join(value.targets)} {value.base_format}"
    return _plain(value)


def _plain(value: Any) -> str:  # noqa: ANN401  whatever a choice holds
    if value is None or isinstance(value, bool):
        return _("yes") if value else _("no")
    return f"{value:g}" if isinstance(value, float) else str(value)


def change_text(names: Sequence[str], first: Scenario, last: Scenario) -> str:
    """Return what changes between two scenarios: "batch size 1 → 4"."""
    parts = [
        f"{_(CHOICE_NAMES[name])} {choice_text(name, first)} → {choice_text(name, last)}"
        for name in names
    ]
    return _(", ").join(parts)


def why(step: Step) -> str:
    """Return the inputs of the rules that changed under a step, as the formulas name them."""
    parts = [
        f"{each.name} {_written(each.before)} → {_written(each.after)}" for each in step.inputs[:4]
    ]
    if step.other_rule:
        parts.append(_("another formula"))
    return _(", ").join(parts)


def _written(value: float | None) -> str:
    return "–" if value is None else written(value)


def scenario_table(
    scenarios: Mapping[str, Scenario], budgets: Mapping[str, Budget], parts: Mapping[str, Any]
) -> Mapping[str, Sequence[str]]:
    """Return a column for each scenario: peak and verdict, the parts, the choices that differ.

    Args:
        scenarios: By letter.
        budgets: Of the same letters.
        parts: Of the same letters: name of a part -> bytes.
    """
    letters, unit = list(budgets), unit_system()
    rows = {
        _("peak"): [f"**{format_bytes(budgets[x].item.amount, unit)}**" for x in letters],
        _("capacity"): [format_bytes(budgets[x].capacity, unit) for x in letters],
        _("verdict"): [_(VERDICTS[budgets[x].verdict]) for x in letters],
    }
    for name in dict.fromkeys(name for letter in letters for name in parts[letter]):
        rows[_(name)] = [_bytes_or_dash(parts[letter].get(name)) for letter in letters]
    for name in _that_differ([scenarios[letter] for letter in letters]):
        rows[_(CHOICE_NAMES[name])] = [choice_text(name, scenarios[letter]) for letter in letters]
    columns = zip(letters, zip(*rows.values(), strict=True), strict=True)
    return {"": list(rows), **{letter: list(column) for letter, column in columns}}


def _that_differ(scenarios: Sequence[Scenario]) -> list[str]:
    """Return the model, the device and every other choice in which the scenarios differ."""
    found = [{name: each.choices[name] for name in CHOICES} for each in scenarios]
    return [
        name
        for name in CHOICES
        if name in {"model", "device"} or any(each[name] != found[0][name] for each in found)
    ]


def _bytes_or_dash(num_bytes: float | None) -> str:
    return format_bytes(num_bytes, unit_system()) if num_bytes else "–"
