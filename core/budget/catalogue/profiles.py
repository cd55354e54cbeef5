"""Implementation profiles: activations belong to the code that runs, not to the architecture.

The same block keeps half as much or twice as much for its backward pass, depending on which
kernels it calls. A profile says which; `saved_tensors` says what each kernel keeps;
`core.models.kernels` has a row of the same name that runs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from core.language import N_


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """One way to write a block.

    Attributes:
        label: What a reader calls it.
        rms_norm: In small operations with an fp32 copy, or in one kernel.
        attention: In tiles that never write the scores, or with all scores written.
        gate: silu(gate) * up in two operations, or in one kernel.
        gelu: In small operations, or in one.
        dropout: Whether attention scores, attention and feed-forward layer are dropped out.
        source: Where it is written that way.
    """

    label: str
    rms_norm: Literal["steps", "kernel"]
    attention: Literal["flash", "full"]
    gate: Literal["steps", "kernel"]
    gelu: Literal["steps", "kernel"]
    dropout: bool
    source: str


PROFILES: Final[Mapping[str, Profile]] = MappingProxyType({
    "hf_eager": Profile(
        label=N_("Hugging Face, eager"),
        rms_norm="steps", attention="flash", gate="steps", gelu="steps", dropout=False,
        source=N_("transformers' Llama and GPT-2 modules with SDPA, no compilation"),
    ),
    "fused": Profile(
        label=N_("fused kernels"),
        rms_norm="kernel", attention="flash", gate="kernel", gelu="kernel", dropout=False,
        source=N_("torch's fused norms, FlashAttention, Liger's SwiGLU"),
    ),
    "megatron": Profile(
        label=N_("Megatron of 2022, with dropout"),
        rms_norm="kernel", attention="full", gate="kernel", gelu="kernel", dropout=True,
        source=N_("Korthikanti et al. 2022, Reducing Activation Recomputation: 34sbh + 5as²b"),
    ),
    "cpu": Profile(
        label=N_("torch on a CPU"),
        rms_norm="steps", attention="flash", gate="steps", gelu="kernel", dropout=False,
        source=N_("core.models on this machine, held against the real CPU allocator"),
    ),
})  # fmt: skip
"""Key, as in a link -> profile."""
