"""What to change where a plan does not fit: computed, in the order in which one would try it.

First what leaves numerics and speed as they are; then what is slower; then other numerics; then
another job; last, more or other devices.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from core.budget.budget import Verdict
from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.item import Item
from core.budget.planning.plan import Plan, fewest_devices
from core.budget.recipe import CHECKPOINTING, LoRA
from core.budget.serving.plan import with_context
from core.language import N_

Group = Literal["same", "slower", "numerics", "job", "devices"]
GROUPS: Final[Mapping[Group, str]] = {
    "same": N_("same numerics and speed"),
    "slower": N_("slower"),
    "numerics": N_("other numerics"),
    "job": N_("another job"),
    "devices": N_("more or other devices"),
}
"""What a change costs -> what it is called, the cheapest first."""
LOSS_CHUNKS: Final = 8
LARGER: Final = ("h100-sxm", "h200-sxm", "b200", "mi300x", "mi355x")
_SHORTEST: Final = 256  # tokens
_LESS_WIDE: Final = ("bfloat16", "fp8_block128", "int4_group128")
_LESS_WIDE_CACHE: Final = ("bfloat16", "float8_e4m3fn", "int4_group128_affine")


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One change of a plan, and what it does.

    Attributes:
        name: Which setting changes: a word of NAMES.
        group: What it costs.
        value: What the setting is afterwards.
        plan: The plan afterwards.
        need: The bytes of its most loaded device.
        verdict: Whether it then fits.
    """

    name: str
    group: Group
    value: str | int
    plan: Plan
    need: Item
    verdict: Verdict


Proposal = tuple[str, Group, str | int, Plan]


def proposals(plan: Plan) -> Iterator[Proposal]:
    """Yield every change of the list that applies to a plan, in order: name, group, value, plan."""
    yield from _training(plan) if plan.work == "train" else _serving(plan)
    yield from _devices(plan)


def _training(plan: Plan) -> Iterator[Proposal]:
    yield from _same_numerics(plan)
    yield from _slower(plan)
    yield from _other_numerics(plan)
    yield from _another_training(plan)


def _trained(plan: Plan, **changed: object) -> Plan:
    return replace(plan, recipe=replace(plan.recipe, **changed))  # type: ignore[arg-type]


def _same_numerics(plan: Plan) -> Iterator[Proposal]:
    cluster = plan.cluster
    for stage in range(cluster.zero_stage + 1, 4) if cluster.data > 1 else ():
        sharded = replace(plan, cluster=replace(cluster, zero_stage=stage))
        yield "zero_stage", "same", stage, sharded
    for batch in _halves(plan.recipe.batch_size):
        yield "batch_size", "same", batch, _trained(plan, batch_size=batch)
    if plan.recipe.loss_chunks < LOSS_CHUNKS:
        yield "loss_chunks", "same", LOSS_CHUNKS, _trained(plan, loss_chunks=LOSS_CHUNKS)


def _slower(plan: Plan) -> Iterator[Proposal]:
    here = plan.recipe.checkpointing
    kinds = CHECKPOINTING[CHECKPOINTING.index(here) + 1 : 3] if here != "every_k" else ("full",)
    for kind in kinds:
        yield "checkpointing", "slower", kind, _trained(plan, checkpointing=kind)
    for name in ("tensor", "context"):
        yield from _shared_further(plan, name)


def _other_numerics(plan: Plan) -> Iterator[Proposal]:
    if plan.recipe.optimizer == "adamw":
        yield "optimizer", "numerics", "adam8bit", _trained(plan, optimizer="adam8bit")
    states = PRECISIONS[plan.recipe.precision].with_adam
    if states > PRECISIONS["pure_bf16"].with_adam:
        yield "precision", "numerics", "pure_bf16", _trained(plan, precision="pure_bf16")


def _another_training(plan: Plan) -> Iterator[Proposal]:
    lora = plan.recipe.lora
    for base in ("bfloat16", "nf4_double_quant"):
        if lora is None or lora.base_format not in (base, "nf4_double_quant"):
            adapters = replace(lora or LoRA(), base_format=base)
            yield "lora", "job", base, _trained(plan, lora=adapters, precision="pure_bf16")
    for tokens in _halves(plan.recipe.seq_len, _SHORTEST):
        yield "seq_len", "job", tokens, _trained(plan, seq_len=tokens)


def _shared_further(plan: Plan, name: str) -> Iterator[Proposal]:
    """Yield larger tensor- or context-parallel sizes within a node, on the same devices."""
    cluster = plan.cluster
    size: int = getattr(cluster, name)
    while 2 * size <= min(cluster.devices_per_node, cluster.num_devices):
        size *= 2
        try:
            split = replace(cluster, **{name: size}, sequence_parallel=True)  # type: ignore[arg-type]
        except ValueError:  # the devices cannot be split so
            continue
        yield name, "slower", size, replace(plan, cluster=split)


def _serving(plan: Plan) -> Iterator[Proposal]:
    serving = plan.serving

    def served(**changed: object) -> Plan:
        return replace(plan, serving=replace(serving, **changed))  # type: ignore[arg-type]

    for fmt in _after(_LESS_WIDE_CACHE, serving.kv_format):
        yield "kv_format", "numerics", fmt, served(kv_format=fmt)
    for fmt in _after(_LESS_WIDE, serving.weight_format):
        yield "weight_format", "numerics", fmt, served(weight_format=fmt)
    for sequences in _halves(serving.concurrency):
        yield "concurrency", "job", sequences, served(concurrency=sequences)
    for tokens in _halves(serving.context, _SHORTEST):
        shorter = with_context(serving, tokens)
        yield "prompt_len", "job", shorter.prompt_len, replace(plan, serving=shorter)


def _after(options: tuple[str, ...], here: str) -> tuple[str, ...]:
    """Return the options behind one of them; of another format nothing narrower is known."""
    return options[options.index(here) + 1 :] if here in options else ()


def _halves(size: int, least: int = 1) -> Iterator[int]:
    while size // 2 >= least:
        size //= 2
        yield size


def _devices(plan: Plan) -> Iterator[Proposal]:
    fewest = fewest_devices(plan).fits
    if fewest is not None and fewest.num_devices > plan.num_devices:
        yield "num_devices", "devices", fewest.num_devices, fewest.plan
    memory = plan.cluster.device.memory_usable
    for key in LARGER:
        if (device := DEVICES[key]).memory_usable > memory:
            yield (
                "device", "devices", key,
                replace(plan, cluster=replace(plan.cluster, device=device)),
            )  # fmt: skip


def changes(plan: Plan) -> tuple[Change, ...]:
    """Return the changes each of which alone makes a plan fit, the cheapest first.

    Of several sizes of one setting that would do only the first is returned: the least change. A
    plan that fits needs none.
    """
    if plan.verdict == "fits":
        return ()
    found: dict[str, Change] = {}
    for change in every_change(plan):
        if change.verdict == "fits" and change.name not in found:
            found[change.name] = change
    return tuple(found.values())


def every_change(plan: Plan) -> Iterator[Change]:
    """Yield every change that makes a plan need less, or gives it more, with its full budget."""
    before = plan.need.amount
    for name, group, value, other in proposals(plan):
        try:
            need = other.need
        except ValueError:  # the model cannot be split so, or has nothing to adapt
            continue
        if group == "devices" or need.amount < before:
            verdict = other.held_against(need)
            yield Change(
                name=name, group=group, value=value, plan=other, need=need, verdict=verdict
            )


def chain(plan: Plan) -> tuple[Change, ...]:
    """Return changes one on top of the other until the plan fits, the cheapest first.

    Of each setting the change is taken that does most; where nothing is left, the last plan does
    not fit. A plan that fits needs none.
    """
    steps: list[Change] = []
    while plan.verdict != "fits":
        taken = {step.name for step in steps}
        left = [change for change in every_change(plan) if change.name not in taken]
        if not left:
            break
        first = left[0].name
        best = min((each for each in left if each.name == first), key=_far_from_fitting)
        steps.append(best)
        plan = best.plan
    return tuple(steps)


def _far_from_fitting(change: Change) -> float:
    """Return what is needed where it does not fit; of those that fit the first is as good."""
    return 0.0 if change.verdict == "fits" else float(change.need.amount)


def savings(plan: Plan) -> tuple[Change, ...]:
    """Return what a plan that needs less than half of its devices can do with the rest.

    Each still fits: activations that are not recomputed, the largest micro-batch, the fewest
    devices, in this order.
    """
    device = plan.cluster.device
    if plan.verdict != "fits" or plan.need.amount > device.memory_usable / 2:
        return ()
    found: dict[str, Change] = {}
    for name, group, value, other in _spending(plan):
        try:
            need = other.need
        except ValueError:  # the model cannot be split so
            continue
        if other.held_against(need) == "fits" and name not in found:
            found[name] = Change(
                name=name, group=group, value=value, plan=other, need=need, verdict="fits"
            )
    return tuple(found.values())


def _spending(plan: Plan) -> Iterator[Proposal]:
    recipe, work = plan.recipe, plan.work
    if work == "train" and recipe.checkpointing in ("selective", "full"):
        for kind in CHECKPOINTING[: CHECKPOINTING.index(recipe.checkpointing)]:
            faster = replace(plan, recipe=replace(recipe, checkpointing=kind))
            yield "checkpointing", "same", kind, faster
    if work == "train":
        for batch in sorted((recipe.batch_size * 2**power for power in range(1, 9)), reverse=True):
            larger = replace(plan, recipe=replace(recipe, batch_size=batch))
            if larger.shares_batch:
                yield "batch_size", "same", batch, larger
    fewest = fewest_devices(plan).fits
    if fewest is not None and fewest.num_devices < plan.num_devices:
        yield "num_devices", "devices", fewest.num_devices, fewest.plan
