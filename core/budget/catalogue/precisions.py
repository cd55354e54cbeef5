"""Who stores what in how many bytes while a model trains: one row a recipe.

"Sixteen bytes for a parameter" is one of these rows; so are eight, twelve, eighteen and twenty.
"""

from dataclasses import dataclass
from typing import Final

from core.budget.table import read_table


@dataclass(frozen=True, kw_only=True, slots=True)
class Precision:
    """The bytes of one number of each kind.

    Attributes:
        weights: Of a weight as it is kept between steps.
        master: Of the fp32 copy that the optimizer updates; 0 without one.
        gradients: Of a gradient as the backward pass leaves it.
        accumulated: Of the fp32 sum in which gradients are gathered beside that; 0 without one.
        state: Of one number of the optimizer's state.
        value: Of an activation that a matrix product reads or writes.
        residual: Of an activation between the blocks, and of a norm's input.
        copies: Of the copy of a matrix that autocast makes in the forward pass and keeps; or 0.
        gathered: Of a weight while a sharded layer is put together to be used.
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


PRECISIONS: Final = {key: Precision(**row) for key, row in read_table(__file__).items()}
"""Key, as in a link -> recipe."""
