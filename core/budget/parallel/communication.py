"""Bytes that one rank sends in a training step, and the seconds that the links take for them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from core.budget.cluster import Cluster
from core.budget.item import Formula, Item, Number, as_guessed, counted, item, total
from core.budget.parallel.ranks import Axis, check_speed, group
from core.budget.parallel.traffic import Transfer, activation_transfers, weight_transfers
from core.budget.recipe import TrainingRecipe
from core.budget.share import Share, shares
from core.language import N_
from core.models.spec import ModelSpec

AXIS_NAMES: Final[Mapping[Axis, str]] = {
    "data": N_("data parallel"),
    "expert data": N_("experts between data ranks"),
    "tensor": N_("tensor parallel"),
    "context": N_("context parallel"),
    "pipeline": N_("pipeline parallel"),
    "expert": N_("expert parallel"),
}
SENT: Final = N_("what one rank of the busiest stage sends in a step")
LINKS: Final = N_(
    "bandwidth of the data sheet, without latency; all-reduces in an H100 node reach 370 of "
    "450 GB/s, small ones a third (How to Scale Your Model, chapter on GPUs)"
)
BAND: Final = (0.0, 2.0)  # never faster than the data sheet; a third of it for small messages

_NOTHING: Final = Formula("0")
SECONDS: Final = Formula("(1 - overlap) * num_bytes / bytes_per_second")


def communication(spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster) -> Item:
    """Return the bytes that a rank of the busiest stage sends in one step, axis by axis.

    Raises:
        ValueError: If the model cannot be split over the cluster; the sentence says why.
    """
    stages = distinct_stages(spec, recipe, cluster)
    found = (stage_communication(spec, recipe, cluster, share) for share in stages)
    return as_guessed(max(found, key=lambda stage: stage.amount), spec)


def exposed_seconds(spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster) -> Item:
    """Return the seconds of one step that the slowest stage spends on links, axis by axis.

    The cluster's `overlap` is hidden behind compute and not counted.

    Raises:
        ValueError: If the model cannot be split over the cluster, or a link carries nothing.
    """
    stages = distinct_stages(spec, recipe, cluster)
    found = (_took(spec, recipe, cluster, share) for share in stages)
    return as_guessed(max(found, key=lambda stage: stage.amount), spec)


def stage_communication(
    spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share
) -> Item:
    """Return the bytes that a rank with this share sends in one step, axis by axis."""
    found = tuple(stage_transfers(spec, recipe, cluster, share))
    return _by_axis(N_("communication"), found, lambda transfer: transfer.item, "bytes", SENT)


def distinct_stages(spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster) -> tuple[Share, ...]:
    """Return one stage of each sort: most of a long pipeline's stages send equally much."""
    found: dict[tuple[int, int, bool, bool], Share] = {}
    for share in shares(spec, cluster, recipe.accumulation):
        sort = (share.num_layers, share.num_expert_layers, share.has_embedding, share.has_head)
        found.setdefault(sort, share)
    return tuple(found.values())


def stage_transfers(
    spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share
) -> Iterator[Transfer]:
    """Yield all that a rank with this share sends in one step."""
    yield from weight_transfers(spec, recipe, cluster, share)
    yield from activation_transfers(spec, recipe, cluster, share)


def _took(spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share) -> Item:
    found = tuple(stage_transfers(spec, recipe, cluster, share))
    speeds = {axis: _speed(cluster, axis) for axis in {transfer.axis for transfer in found}}

    def seconds(transfer: Transfer) -> Item:
        return link_seconds(transfer.item, speeds[transfer.axis], cluster)

    return _by_axis(N_("exposed communication"), found, seconds, "s", LINKS)


def link_seconds(sent: Item, bytes_per_second: float, cluster: Cluster) -> Item:
    """Return the seconds that a link takes for what is sent, less those behind compute.

    Raises:
        ValueError: If the link carries nothing.
    """
    values: dict[str, Number] = {
        "overlap": cluster.overlap,
        "num_bytes": sent.amount,
        "bytes_per_second": check_speed(bytes_per_second),
    }
    known = cluster.device.estimate("link")
    return item(sent.name, SECONDS, values, unit="s", source=LINKS, kind=known, band=BAND)


def _speed(cluster: Cluster, axis: Axis) -> float:
    """Return the bytes/s of a rank on the way that an axis uses."""
    found = group(cluster, axis)
    if axis == "pipeline":
        return found.neighbour
    return found.all_to_all if axis == "expert" else found.ring


def _by_axis(
    name: str, found: tuple[Transfer, ...], line: Callable[[Transfer], Item], unit: str, source: str
) -> Item:
    axes = [
        total(label, lines, source=source)
        for axis, label in AXIS_NAMES.items()
        if (lines := [line(transfer) for transfer in found if transfer.axis == axis])
    ]
    if not axes:
        return counted(name, _NOTHING, {}, source, unit)
    return total(name, axes, source=source)
