"""How a model is trained: everything that decides bytes and FLOPs, beside model and devices."""

from dataclasses import dataclass
from typing import Final, Literal

from core.budget.check import check_choice, check_range

Checkpointing = Literal["none", "selective", "full", "every_k"]
StepKind = Literal["for_loop", "foreach", "fused"]
ReduceDtype = Literal["none", "float32"]
CHECKPOINTING: Final[tuple[Checkpointing, ...]] = ("none", "selective", "full", "every_k")
STEP_KINDS: Final[tuple[StepKind, ...]] = ("for_loop", "foreach", "fused")
REDUCE_DTYPES: Final[tuple[ReduceDtype, ...]] = ("none", "float32")
MAX_TOKENS: Final = 100_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class LoRA:
    """Low-rank adapters on frozen weights (Hu et al. 2021; quantized: Dettmers et al. 2023).

    Attributes:
        targets: Names of the adapted matrices: "q", "k", "v", "o", "gate", "up", "down".
        base_format: How the frozen matrices are stored: a name of `core.dtypes` FORMATS or
            BLOCK_FORMATS; embeddings, norms and head stay in 16 bits.
    """

    rank: int = 8
    targets: tuple[str, ...] = ("q", "v")
    base_format: str = "bfloat16"

    def __post_init__(self) -> None:
        check_range("rank", self.rank, 1, 65_536)
        for target in self.targets or ("",):
            check_choice("target", target, ("q", "k", "v", "o", "gate", "up", "down"))


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingRecipe:
    """One way to train.

    Attributes:
        batch_size: Sequences in one forward pass of one replica: the micro-batch.
        accumulation: Forward and backward passes before one optimizer step.
        checkpoint_every: Layers of one checkpointed segment, with "every_k".
        profile: A row of `core.budget.catalogue.profiles.PROFILES`: which code saves what.
        loss_chunks: Pieces in which logits and loss are computed; 1 is all at once.
        reduce_dtype: In what FSDP2 adds up gradients over the ranks: "float32", or "none" for
            the dtype of compute, as its MixedPrecisionPolicy has it. No other recipe heeds it.
    """

    batch_size: int = 1
    seq_len: int = 4096
    accumulation: int = 1
    precision: str = "mixed_bf16"
    optimizer: str = "adamw"
    step_kind: StepKind = "foreach"
    checkpointing: Checkpointing = "none"
    checkpoint_every: int = 1
    profile: str = "fused"
    loss_chunks: int = 1
    lora: LoRA | None = None
    reduce_dtype: ReduceDtype = "none"

    def __post_init__(self) -> None:
        check_range("batch_size", self.batch_size, 1, 1_000_000)
        check_range("seq_len", self.seq_len, 1, MAX_TOKENS)
        check_range("accumulation", self.accumulation, 1, 1_000_000)
        check_range("checkpoint_every", self.checkpoint_every, 1, 10_000)
        check_range("loss_chunks", self.loss_chunks, 1, MAX_TOKENS)
        check_choice("step_kind", self.step_kind, STEP_KINDS)
        check_choice("checkpointing", self.checkpointing, CHECKPOINTING)
        check_choice("reduce_dtype", self.reduce_dtype, REDUCE_DTYPES)

    @property
    def num_tokens(self) -> int:
        """Tokens of one forward pass of one replica."""
        return self.batch_size * self.seq_len
