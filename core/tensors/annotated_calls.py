"""Functions whose tensors are annotated with names, and what torch does with any shapes.

An annotation is no check: torch runs whatever broadcasts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.language import N_
from core.tensors.broadcasting import explain_broadcast, matmul_shape


@dataclass(frozen=True, kw_only=True, slots=True)
class AnnotatedCall:
    """A function of two tensors.

    Attributes:
        key: In links, and its name in Python.
        title: What it is.
        code: What it returns.
        x, y, result: Annotations.
        x_shape: Of the tensor that stays as it is.
        is_product: Whether it is a product of matrices; else a sum, elementwise.
        flips: Whether the last two dimensions of y change places before the product.
    """

    key: str
    title: str
    code: str
    x: str
    y: str
    result: str
    x_shape: tuple[int, ...]
    is_product: bool = False
    flips: bool = False

    def torch_shape(self, y_shape: Sequence[int]) -> tuple[int, ...] | None:
        """Return the shape that torch gives without any check; None if it refuses."""
        y = (*y_shape[:-2], y_shape[-1], y_shape[-2]) if self.flips else tuple(y_shape)
        rule = matmul_shape if self.is_product else explain_broadcast
        verdict = rule(self.x_shape, y)
        return verdict.shape if verdict.ok else None


# fmt: off
CALLS: Final = (
    AnnotatedCall(key="residual", title=N_("Residual: x + y"), code="x + y", x="b t d", y="b t d",
                  result="b t d", x_shape=(2, 4, 3)),
    AnnotatedCall(key="linear", title=N_("Linear layer: x @ y"), code="x @ y", x="b t d", y="d e",
                  result="b t e", x_shape=(2, 4, 3), is_product=True),
    AnnotatedCall(key="scores", title=N_("Scores: x @ y.mT"), code="x @ y.mT", x="b q d", y="b k d",
                  result="b q k", x_shape=(2, 4, 3), is_product=True, flips=True),
)
# fmt: on
CALL_BY_KEY: Final[Mapping[str, AnnotatedCall]] = {each.key: each for each in CALLS}
