"""What one rank holds of a model, and the shares that a way of spreading it gives the ranks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.budget.cluster import Cluster
from core.language import _
from core.models.spec import ModelSpec, num_before


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """One rank's part of the model. All ranks of one pipeline stage hold equally much."""

    stage: int = 0
    num_layers: int
    num_expert_layers: int = 0
    num_windowed_layers: int = 0
    num_without_attention: int = 0
    num_without_ffn: int = 0  # how many of them have neither feed-forward nor experts
    num_recurrent_layers: int = 0  # how many of them keep a fixed state
    has_embedding: bool = True
    has_head: bool = True  # whether the final norm, the head and the loss are here
    tensor: int = 1
    sequence_parallel: bool = False
    expert: int = 1
    # ranks over which the stored weights are sharded (ZeRO-3), experts apart
    weight_shards: int = 1
    gradient_shards: int = 1  # ranks over which the gradients are sharded (ZeRO-2, -3)
    optimizer_shards: int = 1  # ranks over which the optimizer states are sharded (ZeRO-1, -2, -3)
    virtual_stages: int = 1  # runs of layers that take turns on this rank (interleaved 1F1B)
    # micro-batches whose activations are held at once (1F1B); with virtual stages each counts once
    # for each run of layers that it has passed
    in_flight: int = 1

    @property
    def num_attention_layers(self) -> int:
        """Layers with attention."""
        return self.num_layers - self.num_without_attention

    @property
    def num_dense_layers(self) -> int:
        """Layers with a dense feed-forward layer."""
        return self.num_layers - self.num_without_ffn - self.num_expert_layers

    @property
    def holds_several(self) -> bool:
        """Whether activations of more than one micro-batch can be here at once."""
        return self.in_flight > self.virtual_stages


def whole(spec: ModelSpec) -> Share:
    """Return the share of a rank that holds everything."""
    return _holding(spec, [(0, spec.num_layers)])


def shares(
    spec: ModelSpec, cluster: Cluster, num_microbatches: int | None = None
) -> tuple[Share, ...]:
    """Return one share a pipeline stage; all ranks of a stage hold equally much.

    With the 1F1B schedule (Narayanan et al. 2021, section 2.2) stage i holds the activations of
    `pipeline - i` micro-batches, or of all of them if a step has fewer. With v virtual stages it
    runs 2 (pipeline - i - 1) + (v - 1) pipeline passes ahead, and holds one more (Megatron-LM,
    schedules.py, get_pp_rank_microbatches). A step's micro-batches are the recipe's
    `accumulation`; None stands for "enough".

    Raises:
        ValueError: If the model cannot be split this way; the sentence says why.
    """
    check_split(spec, cluster)
    if num_microbatches is not None:
        check_groups(cluster.pipeline, cluster.virtual_stages, num_microbatches)
    return tuple(
        _stage(spec, cluster, stage, num_microbatches) for stage in range(cluster.pipeline)
    )


def _stage(spec: ModelSpec, cluster: Cluster, stage: int, num_microbatches: int | None) -> Share:
    shards, zero = cluster.weight_ranks, cluster.zero_stage
    return replace(
        _holding(spec, tuple(_runs(spec, cluster, stage))),
        stage=stage,
        has_embedding=stage == 0,
        has_head=stage == cluster.pipeline - 1,
        tensor=cluster.tensor,
        sequence_parallel=cluster.sequence_parallel and cluster.tensor > 1,
        expert=cluster.expert,
        weight_shards=shards if zero == 3 else 1,
        gradient_shards=shards if zero >= 2 else 1,
        optimizer_shards=shards if zero >= 1 else 1,
        virtual_stages=cluster.virtual_stages,
        in_flight=in_flight(cluster, stage, num_microbatches),
    )


def _holding(spec: ModelSpec, runs: Sequence[tuple[int, int]]) -> Share:
    """Return the share of a rank that holds these runs of layers and everything beside them."""
    windowed = _windowed_layers
    return Share(
        num_layers=sum(end - start for start, end in runs),
        num_expert_layers=sum(
            spec.expert_layers_before(end) - spec.expert_layers_before(start) for start, end in runs
        ),
        num_windowed_layers=sum(windowed(spec, end) - windowed(spec, start) for start, end in runs),
        num_without_attention=_among(spec.without_attention, runs),
        num_without_ffn=_among(spec.without_ffn, runs),
        num_recurrent_layers=_among(spec.recurrent.layers if spec.recurrent else (), runs),
    )


def _among(layers: tuple[int, ...], runs: Sequence[tuple[int, int]]) -> int:
    return sum(num_before(layers, end) - num_before(layers, start) for start, end in runs)


def in_flight(cluster: Cluster, stage: int, num_microbatches: int | None = None) -> int:
    """Return the most passes whose activations a stage holds; see `shares`."""
    behind, virtual = cluster.pipeline - stage - 1, cluster.virtual_stages
    most = behind + 1
    if virtual > 1:  # no limit of the other formula: with one run it would hold 2 behind + 1
        most = 2 * behind + (virtual - 1) * cluster.pipeline + 1
    return most if num_microbatches is None else min(most, num_microbatches * virtual)


def _runs(spec: ModelSpec, cluster: Cluster, stage: int) -> Iterator[tuple[int, int]]:
    """Yield the first layer of each of a stage's runs, and the one behind its last.

    With virtual stages a model is cut into `pipeline` times as many runs, dealt out in turn.
    """
    num_runs = cluster.pipeline * cluster.virtual_stages
    for run in range(stage, num_runs, cluster.pipeline):
        yield (
            first_layer(spec.num_layers, num_runs, run),
            first_layer(spec.num_layers, num_runs, run + 1),
        )


def check_groups(num_stages: int, num_virtual: int, num_microbatches: int) -> None:
    """Refuse a step whose micro-batches do not come in groups of as many as there are stages.

    Raises:
        ValueError: If they do not and stages are interleaved; a sentence.
    """
    if num_virtual > 1 and num_microbatches % num_stages:
        raise ValueError(
            _(
                "{batches} micro-batches cannot be interleaved over {stages} pipeline stages; take "
                "a multiple of {stages}."
            ).format(batches=num_microbatches, stages=num_stages)
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


def _problems(spec: ModelSpec, cluster: Cluster) -> Iterator[str]:
    tensor, kv = cluster.tensor, spec.num_kv_heads
    if cluster.pipeline > spec.num_layers:
        yield _(
            "{stages} pipeline stages are more than the {layers} layers of {model}; "
            "a stage needs at least one layer."
        ).format(stages=cluster.pipeline, layers=spec.num_layers, model=spec.name)
    runs = cluster.pipeline * cluster.virtual_stages
    if cluster.virtual_stages > 1 and spec.num_layers % runs:
        yield _(
            "The {layers} layers of {model} cannot be cut into {stages} pipeline stages times "
            "{virtual} virtual stages; their product must divide {layers}.",
            layers=spec.num_layers,
            model=spec.name,
            stages=cluster.pipeline,
            virtual=cluster.virtual_stages,
        )
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
    yield from _uneven_widths(spec, tensor)
    yield from _uneven_experts(spec, cluster.expert)
    yield from _other_layers(spec, cluster)


def _other_layers(spec: ModelSpec, cluster: Cluster) -> Iterator[str]:
    """Yield why layers that are not attention and feed-forward cannot be split."""
    tensor = cluster.tensor
    if spec.recurrent is not None and spec.recurrent.num_heads % tensor:
        yield _(
            "{tensor} tensor-parallel ranks cannot share the {heads} heads of the recurrent layers "
            "of {model}; take a number that divides {heads}."
        ).format(tensor=tensor, heads=spec.recurrent.num_heads, model=spec.name)
    if spec.layer_inputs is not None and max(tensor, cluster.pipeline) > 1:
        yield _(
            "{model} has per-layer inputs, whose split over tensor or pipeline ranks is not "
            "counted here; take 1 of each."
        ).format(model=spec.name)
    if (spec.recurrent or spec.layer_inputs) and cluster.context > 1:
        yield _(
            "Some layers of {model} hand on more than keys and values, which is not counted here "
            "for several context ranks; take 1."
        ).format(model=spec.name)


def _uneven_widths(spec: ModelSpec, tensor: int) -> Iterator[str]:
    widths = [spec.ffn_dim] if spec.num_dense_layers else []
    if spec.mixture is not None:
        widths.append(spec.mixture.expert_dim)
    for width in widths:
        if width % tensor:
            yield _(
                "{tensor} tensor-parallel ranks cannot share the feed-forward width {width} of "
                "{model}; take a number that divides {width}."
            ).format(tensor=tensor, width=width, model=spec.name)


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
