"""What each command of the command line does; every one yields the lines that it prints."""

import json
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import Any, Final

from core import units
from core.budget.budget import Budget
from core.budget.catalogue.devices import DEVICES
from core.budget.command_line.settings import Settings, read_settings
from core.budget.fits.jobs import Job, serving_ways, training_ways
from core.budget.fits.matrix import Cell, first_failing, matrix
from core.budget.fits.solve import min_devices
from core.budget.item import Item, hedged
from core.budget.serving.decode_speeds import with_measured_mbu
from core.budget.serving.latency import decode_latency, prefill_latency
from core.budget.serving.memory import inference_budget
from core.budget.serving.throughput import device_speed, user_speed
from core.budget.training.memory import training_budget
from core.budget.weights.config_notes import guess_words
from core.language import N_, _, ngettext
from core.models.spec import ModelSpec
from core.units import format_bytes

MODEL: Final = "model"
VERDICTS: Final[Mapping[str, str]] = {
    "fits": N_("fits"),
    "close": N_("close"),
    "too_big": N_("too big"),
}
WRITTEN: Final = {
    "parameters": units.format_count,
    "FLOPs": units.format_flops,
    "FLOP/s": units.format_flops_per_second,
    "s": units.format_seconds,
    "1": units.format_percent,
}


def _train(chosen: Namespace) -> Iterator[str]:
    found = read_settings(chosen.model, chosen.settings, "train")
    budget = training_budget(found.spec, found.recipe, found.cluster)
    yield from _budget_lines(chosen, found.spec, budget)


def _serve(chosen: Namespace) -> Iterator[str]:
    found = read_settings(chosen.model, chosen.settings, "serve")
    plan = found.plan if "mbu" in found.told else with_measured_mbu(found.plan)
    budget = inference_budget(found.spec, plan, found.cluster)
    prefill = prefill_latency(found.spec, plan, found.cluster)
    token = decode_latency(found.spec, plan, found.cluster)
    yield from _budget_lines(
        chosen,
        found.spec,
        budget,
        (prefill, token, user_speed(token), device_speed(plan, prefill, token)),
    )


def _budget_lines(
    chosen: Namespace, spec: ModelSpec, budget: Budget, speeds: tuple[Item, ...] = ()
) -> Iterator[str]:
    failing = first_failing(budget.largest, budget.capacity)
    reason = failing.name if failing else ""
    if chosen.json:
        yield json.dumps(
            {
                "name": budget.name,
                "capacity": budget.capacity,
                "headroom": budget.headroom,
                "fits": budget.fits,
                "verdict": budget.verdict,
                "first_failing": reason,
                **_known(spec),
                "budget": item_json(budget.item),
                "speeds": [item_json(speed) for speed in speeds],
            },
            indent=2,
        )
        return
    yield verdict_line(budget, reason) + _in_brackets(spec)
    yield from _tree(chosen, budget.item)
    if speeds and not budget.fits:
        yield _("if it fitted:")
    for speed in speeds:
        yield from _tree(chosen, replace(speed, children=()))


def verdict_line(budget: Budget, reason: str) -> str:
    """Return whether a budget fits, and what fails first."""
    words = {
        "": _("{name}: {need} of {capacity} a device: {verdict}"),
        "close": _(
            "{name}: {need} may not fit in {capacity}, within the band; the first that fails: "
            "{reason}"
        ),
        "too_big": _("{name}: {need} do not fit in {capacity}; the first that fails: {reason}"),
    }
    if budget.item.guess:
        words["close"] = _(
            "{name}: {need} may not fit in {capacity}; the first that fails: {reason}"
        )
    return words[budget.verdict if reason else ""].format(
        name=budget.name,
        need=hedged(format_bytes(budget.item.amount), budget.item),
        capacity=format_bytes(budget.capacity),
        verdict=budget.words,
        reason=_(reason) if reason else "",
    )


def _known(spec: ModelSpec) -> dict[str, Any]:
    return {"guessed": spec.guessed, "not_counted": list(spec.not_counted)}


def _in_brackets(spec: ModelSpec) -> str:
    return f" ({words})" if (words := guess_words(spec)) else ""


def _tree(chosen: Namespace, item: Item) -> Iterator[str]:
    return item_markdown(item) if chosen.markdown else item_lines(item)


def _fits(chosen: Namespace) -> Iterator[str]:
    found = read_settings(chosen.model, chosen.settings, "fits")
    serving = {f"serve {way}": job for way, job in serving_ways(found.plan, found.spec).items()}
    training = {f"train {way}": job for way, job in training_ways(found.recipe).items()}
    ways: dict[str, Job] = {**serving, **training}
    cells = matrix({MODEL: found.spec}, ways, DEVICES)
    if chosen.json:
        rows = [
            _row(cells[MODEL, way, key], way, key) | _known(found.spec)
            for way in ways
            for key in DEVICES
        ]
        yield json.dumps(rows, indent=2)
        return
    yield "| " + " | ".join([_("device"), *ways]) + " |"
    yield "|---|" + "---|" * len(ways)
    for key, device in DEVICES.items():
        words = [_word(found, job, key, cells[MODEL, way, key]) for way, job in ways.items()]
        yield "| " + " | ".join([device.name, *words]) + " |"
    if brackets := _in_brackets(found.spec):
        yield f"\n{found.spec.name}{brackets}"


def _word(found: Settings, job: Job, key: str, cell: Cell) -> str:
    if not cell.reason and not cell.sentence:
        return _("may fit") if cell.is_guess else _(VERDICTS[cell.verdict])
    fewest = min_devices(found.spec, job, DEVICES[key])
    if not fewest.amount:
        words = _("{reason}: perhaps no") if cell.is_guess else _("{reason}: no")
        return words.format(reason=_(cell.reason))
    if cell.is_guess:
        words = ngettext(
            "{reason}: about {count} device", "{reason}: about {count} devices", fewest.amount
        )
    else:
        words = ngettext("{reason}: {count} device", "{reason}: {count} devices", fewest.amount)
    return words.format(reason=_(cell.reason), count=fewest.amount)


def _row(cell: Cell, way: str, device: str) -> dict[str, Any]:
    return {
        "way": way,
        "device": device,
        "verdict": cell.verdict,
        "need": cell.need.amount if cell.need else None,
        "capacity": cell.capacity,
        "first_failing": cell.reason,
        "sentence": cell.sentence,
    }


COMMANDS: Final[Mapping[str, Callable[[Namespace], Iterator[str]]]] = {
    "train": _train,
    "serve": _serve,
    "fits": _fits,
}
"""Command -> the lines that it prints; explained.py has those that read what was brought."""


def amount_text(item: Item) -> str:
    """Return the amount with its unit."""
    if item.unit == "bytes":
        return hedged(format_bytes(item.amount), item)
    if item.unit in WRITTEN:
        return hedged(WRITTEN[item.unit](item.amount), item)
    return hedged(f"{item.amount:,.6g} {item.unit}", item)


def item_json(item: Item) -> dict[str, Any]:
    """Return a tree as JSON data, every number with formula, source and band."""
    return {
        "name": item.name,
        "amount": item.amount,
        "unit": item.unit,
        "low": item.low,
        "high": None if item.high == inf else item.high,  # open: JSON has no infinity
        "kind": item.kind,
        "guess": item.guess,
        "formula": item.formula,
        "substituted": item.substituted,
        "source": item.source,
        "combine": item.combine,
        "children": [item_json(part) for part in item.children],
    }


def item_lines(item: Item, depth: int = 0) -> Iterator[str]:
    """Yield a tree as lines of text, two spaces a level."""
    name = "  " * depth + _(item.name)
    mark = " (max)" if item.combine == "max" and item.children else ""
    yield f"{name:40} {amount_text(item):>12}{mark}"
    for part in item.children:
        yield from item_lines(part, depth + 1)


def item_markdown(item: Item) -> Iterator[str]:
    """Yield a tree as a Markdown table with formulas and sources."""
    yield "| item | amount | kind | formula | source |"
    yield "|---|---:|---|---|---|"
    for depth, part in _walk(item):
        cells = (
            "&nbsp;&nbsp;" * depth + _(part.name),
            amount_text(part),
            part.kind,
            f"`{part.substituted}`",
            _(part.source),
        )
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _walk(item: Item, depth: int = 0) -> Iterator[tuple[int, Item]]:
    yield depth, item
    for part in item.children:
        yield from _walk(part, depth + 1)
