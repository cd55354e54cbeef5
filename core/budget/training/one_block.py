"""What one block keeps for its backward pass: the closed form, beside what was captured of it."""

from collections.abc import Iterable
from dataclasses import dataclass

from core.autograd.graph import Capture, Saved
from core.budget.recipe import TrainingRecipe
from core.budget.share import whole
from core.budget.training.activations import activation_sizes, layer_activations
from core.models.spec import ModelSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockBytes:
    """Bytes that a block keeps, its input with them.

    Attributes:
        fused, manual: By the closed form, with attention in one kernel and written out.
        measured: By the capture: each storage once, and what was handed in.
    """

    fused: int
    manual: int
    measured: int


def block_bytes(spec: ModelSpec, num_tokens: int, capture: Capture) -> BlockBytes:
    """Return both closed forms in fp32 for one sequence, and what the capture has kept."""
    return BlockBytes(
        fused=_closed_form(spec, num_tokens, "cpu"),
        manual=_closed_form(spec, num_tokens, "megatron"),
        measured=_stored(each for node in capture.nodes for each in node.saved),
    )


def _closed_form(spec: ModelSpec, num_tokens: int, profile: str) -> int:
    recipe = TrainingRecipe(batch_size=1, seq_len=num_tokens, precision="fp32", profile=profile)
    rows = layer_activations(spec, recipe, activation_sizes(spec, recipe, whole(spec)))
    return int(sum(row.amount for row in rows))


def _stored(saved: Iterable[Saved]) -> int:
    return sum(
        {s.storage: s.storage_bytes for s in saved if s.kind in {"activation", "input"}}.values()
    )
