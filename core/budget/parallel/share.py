"""What one rank holds of a model: the numbers between a parallel layout and a rank's bytes."""

from dataclasses import dataclass

from core.models.spec import ModelSpec


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
