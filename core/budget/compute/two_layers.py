"""Where 2, 4 and 6 come from: two layers, product by product.

Shape letters: B rows of data, D inputs and hidden units, K outputs.
"""

from typing import Final

from core.budget.check import check_range
from core.budget.formula import Formula
from core.budget.item import Item, item, total
from core.language import N_

FIRST: Final = Formula("2 * B * D * D")
SECOND: Final = Formula("2 * B * D * K")
MOST: Final = 1_000_000

_PRODUCT: Final = N_("a multiply and an add for each number of each row and column")
_CHAIN: Final = N_("the chain rule: each product forward gives two backward, if both are needed")


def two_layer_flops(rows: int, width: int, outputs: int, *, input_needs_gradient: bool) -> Item:
    """Return the FLOPs of h = x w1, y = h w2 and of their backward pass, a child a product.

    Args:
        rows: Rows of x.
        width: Columns of x and of h.
        outputs: Columns of y.
        input_needs_gradient: Whether the gradient of x is computed; data needs none.

    Raises:
        ValueError: If a size is out of range.
    """
    for name, size in (("rows", rows), ("width", width), ("outputs", outputs)):
        check_range(name, size, 1, MOST)
    values = {"B": rows, "D": width, "K": outputs}

    def product(name: str, formula: Formula, source: str) -> Item:
        return item(name, formula, values, unit="FLOPs", source=source)

    forward = [product("h = x @ w1", FIRST, _PRODUCT), product("y = h @ w2", SECOND, _PRODUCT)]
    backward = [
        product("w2.grad = h.T @ y.grad", SECOND, _CHAIN),
        product("h.grad = y.grad @ w2.T", SECOND, _CHAIN),
        product("w1.grad = x.T @ h.grad", FIRST, _CHAIN),
    ]
    if input_needs_gradient:
        backward.append(product("x.grad = h.grad @ w1.T", FIRST, _CHAIN))
    parts = [
        total(N_("forward"), forward, source=_PRODUCT),
        total(N_("backward"), backward, source=_CHAIN),
    ]
    return total(N_("step FLOPs"), parts, source=_CHAIN)
