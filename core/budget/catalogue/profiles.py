"""Implementation profiles: activations belong to the code that runs, not to the architecture.

The same block keeps half as much or twice as much for its backward pass, depending on which
kernels it calls. A profile says which; `saved_tensors` says what each kernel keeps;
`core.models.kernels` has a row of the same name that runs it.
"""

from dataclasses import dataclass
from typing import Final, Literal

from core.budget.table import read_table


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """One way to write a block.

    Attributes:
        rms_norm: In small operations with an fp32 copy, or in one kernel.
        attention: In tiles that never write the scores, or with all scores written.
        gate: silu(gate) * up in two operations, or in one kernel.
        gelu: In small operations, or in one.
        dropout: Whether attention scores, attention and feed-forward layer are dropped out.
    """

    label: str
    rms_norm: Literal["steps", "kernel"]
    attention: Literal["flash", "full"]
    gate: Literal["steps", "kernel"]
    gelu: Literal["steps", "kernel"]
    dropout: bool
    source: str


PROFILES: Final = {key: Profile(**row) for key, row in read_table(__file__).items()}
"""Key, as in a link -> profile."""
