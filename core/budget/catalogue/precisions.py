"""Who stores what in how many bytes while a model trains: one row a recipe.

"Sixteen bytes for a parameter" is one of these rows; so are eight, twelve, eighteen and twenty.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from core.language import N_


@dataclass(frozen=True, kw_only=True, slots=True)
class Precision:
    """The bytes of one number of each kind.

    Attributes:
        label: What a reader calls it.
        weights: Of a weight as it is kept between steps.
        master: Of the fp32 copy that the optimizer updates; 0 without one.
        gradients: Of a gradient as the backward pass leaves it.
        accumulated: Of the fp32 sum in which gradients are gathered beside that; 0 without one.
        state: Of one number of the optimizer's state.
        value: Of an activation that a matrix product reads or writes.
        residual: Of an activation between the blocks, and of a norm's input.
        copies: Of the copy of a matrix that autocast makes in the forward pass and keeps; or 0.
        gathered: Of a weight while a sharded layer is put together to be used.
        source: Where the row comes from.
    """

    label: str
    weights: int
    master: int = 0
    gradients: int
    accumulated: int = 0
    state: int
    value: int
    residual: int
    copies: int = 0
    gathered: int = 2
    source: str

    @property
    def resident(self) -> int:
        """Bytes of a gradient sum that is there from one step to the next; 0 without one."""
        if self.accumulated:
            return self.accumulated
        return self.gradients if self.gradients > self.weights else 0

    @property
    def casts_shards(self) -> bool:
        """Whether fully_shard casts the shards before it gathers them: a MixedPrecisionPolicy."""
        return self.gathered < self.weights

    @property
    def with_adam(self) -> int:
        """Bytes for each parameter with AdamW's two moments, activations apart."""
        return self.weights + self.master + self.gradients + self.accumulated + 2 * self.state


PRECISIONS: Final[Mapping[str, Precision]] = MappingProxyType({
    "fp32": Precision(
        label=N_("all in fp32"),
        weights=4, gradients=4, state=4, value=4, residual=4, gathered=4,
        source=N_("torch.optim.AdamW on fp32 parameters: measured on meta tensors"),
    ),
    "autocast_bf16": Precision(
        label=N_("autocast to bf16"),
        weights=4, gradients=4, state=4, value=2, residual=4, copies=2, gathered=4,
        source=N_("torch.autocast: weights, gradients and moments stay fp32"),
    ),
    "mixed_bf16": Precision(
        label=N_("bf16 with an fp32 master copy"),
        weights=2, master=4, gradients=2, state=4, value=2, residual=2,
        source=N_("Rajbhandari et al. 2020, ZeRO, section 3.1: K = 12 beside 2 + 2 bytes"),
    ),
    "fsdp2": Precision(
        label=N_("FSDP2: fp32 shards, bf16 compute"),
        weights=4, gradients=4, state=4, value=2, residual=2,
        source=N_("torch fully_shard with MixedPrecisionPolicy(param_dtype=bfloat16)"),
    ),
    "pure_bf16": Precision(
        label=N_("all in bf16"),
        weights=2, gradients=2, state=2, value=2, residual=2,
        source=N_("torch.optim.AdamW on bf16 parameters: its moments are bf16 too"),
    ),
    "cs336_12": Precision(
        label=N_("bf16 with fp32 moments, no master copy"),
        weights=2, gradients=2, state=4, value=2, residual=2,
        source=N_("Stanford CS336, lecture 2 of 2026: 2 + 2 + 8 bytes"),
    ),
    "megatron": Precision(
        label=N_("Megatron: fp32 gradients and master copy"),
        weights=2, master=4, gradients=4, state=4, value=2, residual=2,
        source=N_("Megatron-LM, theoretical_memory_usage.py: 18 bytes"),
    ),
    "nanotron": Precision(
        label=N_("nanotron: bf16 gradients summed in fp32"),
        weights=2, master=4, gradients=2, accumulated=4, state=4, value=2, residual=2,
        source=N_("Hugging Face, The Ultra-Scale Playbook 2025: 20 bytes"),
    ),
})  # fmt: skip
"""Key, as in a link -> recipe."""
