"""What each command of the command line does; every one yields the lines that it prints."""

import json
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from core.budget.budget import Budget
from core.budget.catalogue.devices import DEVICES
from core.budget.cluster import Cluster
from core.budget.compute.jobs import Job, serving_ways
from core.budget.compute.training_jobs import training_ways
from core.budget.fits.matrix import Cell, first_failing, matrix
from core.budget.fits.solve import min_devices
from core.budget.item import Item
from core.budget.report import item_json, item_lines, item_markdown
from core.budget.serving.decode_speeds import with_measured_mbu
from core.budget.serving.inference_budget import inference_budget
from core.budget.serving.serving_plan import ServingPlan
from core.budget.serving.serving_time import decode_latency, prefill_latency
from core.budget.serving.throughput import device_speed, user_speed
from core.budget.settings import Settings, read_settings
from core.budget.training.training_budget import training_budget
from core.language import N_, _, ngettext
from core.models.spec import ModelSpec
from core.units import format_bytes

MODEL: Final = "model"
VERDICTS: Final[Mapping[str, str]] = {
    "fits": N_("fits"),
    "close": N_("close"),
    "too_big": N_("too big"),
}


def _train(chosen: Namespace) -> Iterator[str]:
    found = read_settings(chosen.model, chosen.settings, "train")
    yield from _budget_lines(chosen, training_budget(found.spec, found.recipe, found.cluster))


def _serve(chosen: Namespace) -> Iterator[str]:
    found = read_settings(chosen.model, chosen.settings, "serve")
    plan = found.plan if "mbu" in found.told else with_measured_mbu(found.plan)
    budget = inference_budget(found.spec, plan, found.cluster)
    yield from _budget_lines(chosen, budget, serving_speeds(found.spec, plan, found.cluster))


def serving_speeds(spec: ModelSpec, plan: ServingPlan, cluster: Cluster) -> tuple[Item, ...]:
    """Return the time to the first token, for each token, and tokens/s for reader and device."""
    prefill = prefill_latency(spec, plan, cluster)
    token = decode_latency(spec, plan, cluster)
    return prefill, token, user_speed(token), device_speed(plan, prefill, token)


def _budget_lines(
    chosen: Namespace, budget: Budget, speeds: tuple[Item, ...] = ()
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
                "budget": item_json(budget.item),
                "speeds": [item_json(speed) for speed in speeds],
            },
            indent=2,
        )
        return
    yield _verdict_line(budget, reason)
    yield from _tree(chosen, budget.item)
    for speed in speeds:
        yield from _tree(chosen, replace(speed, children=()))


def _verdict_line(budget: Budget, reason: str) -> str:
    words = {
        "": _("{name}: {need} of {capacity} a device: {verdict}"),
        "close": _(
            "{name}: {need} may not fit in {capacity}, within the band; the first that fails: "
            "{reason}"
        ),
        "too_big": _("{name}: {need} do not fit in {capacity}; the first that fails: {reason}"),
    }
    return words[budget.verdict if reason else ""].format(
        name=budget.name,
        need=format_bytes(budget.item.amount),
        capacity=format_bytes(budget.capacity),
        verdict=_(VERDICTS[budget.verdict]),
        reason=_(reason) if reason else "",
    )


def _tree(chosen: Namespace, item: Item) -> Iterator[str]:
    return item_markdown(item) if chosen.markdown else item_lines(item)


def _fits(chosen: Namespace) -> Iterator[str]:
    found = read_settings(chosen.model, chosen.settings, "fits")
    ways = _ways(found)
    cells = matrix({MODEL: found.spec}, ways, DEVICES)
    if chosen.json:
        rows = [_row(cells[MODEL, way, key], way, key) for way in ways for key in DEVICES]
        yield json.dumps(rows, indent=2)
        return
    yield "| " + " | ".join([_("device"), *ways]) + " |"
    yield "|---|" + "---|" * len(ways)
    for key, device in DEVICES.items():
        words = [_word(found, job, key, cells[MODEL, way, key]) for way, job in ways.items()]
        yield "| " + " | ".join([device.name, *words]) + " |"


def _ways(found: Settings) -> Mapping[str, Job]:
    serving = {f"serve {way}": job for way, job in serving_ways(found.plan).items()}
    training = {f"train {way}": job for way, job in training_ways(found.recipe).items()}
    return {**serving, **training}


def _word(found: Settings, job: Job, key: str, cell: Cell) -> str:
    if not cell.reason and not cell.sentence:
        return _(VERDICTS[cell.verdict])
    fewest = min_devices(found.spec, job, DEVICES[key])
    if not fewest.amount:
        return _("{reason}: no").format(reason=_(cell.reason))
    return ngettext("{reason}: {count} device", "{reason}: {count} devices", fewest.amount).format(
        reason=_(cell.reason), count=fewest.amount
    )


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
