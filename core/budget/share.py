"""What one rank holds of a model, and the shares that a way of spreading it gives the ranks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.budget.cluster import Cluster
from core.language import _
from core.models.spec import ModelSpec

Way = Literal["tensor", "pipeline", "expert"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """One rank's part of the model. All ranks of one pipeline stage hold equally much.

    Attributes:
        stage: The pipeline stage, from 0.
        num_layers: Layers of this stage.
        num_expert_layers: How many of them have experts.
        num_windowed_layers: How many of them have a sliding window.
        has_embedding: Whether the token embedding is here.
        has_head: Whether the final norm, the head and the loss are here.
        tensor: Ranks that share each matrix.
        sequence_parallel: Whether they also share the tokens between the matrices.
        expert: Ranks that share the experts.
        weight_shards: Ranks over which the stored weights are sharded (ZeRO-3), experts apart.
        gradient_shards: Ranks over which the gradients are sharded (ZeRO-2, -3).
        optimizer_shards: Ranks over which the optimizer states are sharded (ZeRO-1, -2, -3).
        in_flight: Micro-batches whose activations are held at once (1F1B).
    """

    stage: int = 0
    num_layers: int
    num_expert_layers: int = 0
    num_windowed_layers: int = 0
    has_embedding: bool = True
    has_head: bool = True
    tensor: int = 1
    sequence_parallel: bool = False
    expert: int = 1
    weight_shards: int = 1
    gradient_shards: int = 1
    optimizer_shards: int = 1
    in_flight: int = 1


def whole(spec: ModelSpec) -> Share:
    """Return the share of a rank that holds everything."""
    return Share(
        num_layers=spec.num_layers,
        num_expert_layers=spec.num_expert_layers,
        num_windowed_layers=spec.num_windowed_layers,
    )


def shares(
    spec: ModelSpec, cluster: Cluster, num_microbatches: int | None = None
) -> tuple[Share, ...]:
    """Return one share a pipeline stage; all ranks of a stage hold equally much.

    With the 1F1B schedule (Narayanan et al. 2021, section 2.2) stage i holds the activations of
    `pipeline - i` micro-batches, or of all of them if a step has fewer. A step's micro-batches
    are the recipe's `accumulation`; None stands for "enough".

    Raises:
        ValueError: If the model cannot be split this way; the sentence says why.
    """
    check_split(spec, cluster)
    return tuple(
        _stage(spec, cluster, stage, num_microbatches) for stage in range(cluster.pipeline)
    )


def _stage(spec: ModelSpec, cluster: Cluster, stage: int, num_microbatches: int | None) -> Share:
    start = first_layer(spec.num_layers, cluster.pipeline, stage)
    end = first_layer(spec.num_layers, cluster.pipeline, stage + 1)
    deepest = cluster.pipeline - stage
    data, zero = cluster.data, cluster.zero_stage
    return Share(
        stage=stage,
        num_layers=end - start,
        num_expert_layers=spec.expert_layers_before(end) - spec.expert_layers_before(start),
        num_windowed_layers=_windowed_layers(spec, end) - _windowed_layers(spec, start),
        has_embedding=stage == 0,
        has_head=stage == cluster.pipeline - 1,
        tensor=cluster.tensor,
        sequence_parallel=cluster.sequence_parallel and cluster.tensor > 1,
        expert=cluster.expert,
        weight_shards=data if zero == 3 else 1,
        gradient_shards=data if zero >= 2 else 1,
        optimizer_shards=data if zero >= 1 else 1,
        in_flight=deepest if num_microbatches is None else min(deepest, num_microbatches),
    )


def first_layer(num_layers: int, num_stages: int, stage: int) -> int:
    """Return the index of a stage's first layer; the first stages get the layers left over.

    >>> [first_layer(80, 3, stage) for stage in range(4)]
    [0, 27, 54, 80]
    """
    each, left = divmod(num_layers, num_stages)
    return each * stage + min(stage, left)


def _windowed_layers(spec: ModelSpec, before: int) -> int:
    """Windowed layers among the first ones, spread as evenly as Gemma 2 does: layers 0, 2, 4 ..."""
    return -(-before * spec.num_windowed_layers // spec.num_layers)


def check_split(spec: ModelSpec, cluster: Cluster) -> None:
    """Refuse a split that the model's sizes do not allow.

    Raises:
        ValueError: With a sentence for the first of them.
    """
    for problem in _problems(spec, cluster):
        raise ValueError(problem)


def possible_sizes(
    spec: ModelSpec, cluster: Cluster, way: Way, sizes: Sequence[int]
) -> tuple[int, ...]:
    """Return those of the sizes in which the model can be split further."""

    def is_possible(size: int) -> bool:
        try:
            check_split(spec, split_further(cluster, way, size))
        except ValueError:
            return False
        return True

    return tuple(size for size in sizes if is_possible(size))


def split_further(cluster: Cluster, way: Way, size: int) -> Cluster:
    """Return the cluster with `size` times its devices; expert ranks are data ranks, no new ones.

    Raises:
        ValueError: If there cannot be so many devices or expert ranks; a sentence.
    """
    return replace(
        cluster,
        num_devices=cluster.num_devices * (1 if way == "expert" else size),
        tensor=size if way == "tensor" else cluster.tensor,
        pipeline=size if way == "pipeline" else cluster.pipeline,
        expert=size if way == "expert" else cluster.expert,
    )


def _problems(spec: ModelSpec, cluster: Cluster) -> Iterator[str]:
    tensor, kv = cluster.tensor, spec.num_kv_heads
    if cluster.pipeline > spec.num_layers:
        yield _(
            "{stages} pipeline stages are more than the {layers} layers of {model}; "
            "a stage needs at least one layer."
        ).format(stages=cluster.pipeline, layers=spec.num_layers, model=spec.name)
    if spec.num_heads % tensor:
        yield _(
            "{tensor} tensor-parallel ranks cannot share the {heads} attention heads of {model}; "
            "take a number that divides {heads}."
        ).format(tensor=tensor, heads=spec.num_heads, model=spec.name)
    if spec.latent is None and tensor % kv and kv % tensor:
        yield _(
            "{tensor} tensor-parallel ranks cannot share the {heads} key and value heads of "
            "{model}; one of the two numbers must divide the other."
        ).format(tensor=tensor, heads=kv, model=spec.name)
    widths = [spec.ffn_dim] if spec.num_dense_layers else []
    if spec.mixture is not None:
        widths.append(spec.mixture.expert_dim)
    for width in widths:
        if width % tensor:
            yield _(
                "{tensor} tensor-parallel ranks cannot share the feed-forward width {width} of "
                "{model}; take a number that divides {width}."
            ).format(tensor=tensor, width=width, model=spec.name)
    yield from _uneven_experts(spec, cluster.expert)


def _uneven_experts(spec: ModelSpec, expert: int) -> Iterator[str]:
    if expert > 1 and spec.mixture is None:
        yield _(
            "{model} has no experts, so there is nothing for {expert} expert-parallel ranks."
        ).format(model=spec.name, expert=expert)
    if spec.mixture is not None and spec.mixture.num_experts % expert:
        yield _(
            "{expert} expert-parallel ranks cannot share the {experts} experts of {model}; take a "
            "number that divides {experts}."
        ).format(expert=expert, experts=spec.mixture.num_experts, model=spec.name)
