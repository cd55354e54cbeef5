r"""What a formula is: for each input of an operation, its gradient from that of the output.

A bar means a gradient of the loss: `\bar{y}` comes into the node, `\bar{x}` leaves it. The rules
are those of torch's own table, tools/autograd/derivatives.yaml.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Template
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Values: TypeAlias = Mapping[str, Any]
Gradients: TypeAlias = tuple["Array | tuple[Array, ...] | None", ...]
# g is an array; of a node with several outputs, a tuple of arrays, None where one was not used.
Rule: TypeAlias = Callable[[Any, Values], Any]

INCOMING: Final = "g"
BAR_Y: Final = r"\bar{y}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Input:
    r"""An input of an operation, and how its gradient is made.

    Attributes:
        symbol: In the formula: "a".
        derivative: LaTeX of its gradient, with `$g` for the incoming gradient and `$other` for what
            the node saved under that name: `$g \cdot $other`.
        rule: The same in numpy: (g, values) -> gradient.
        needs: Names without which the node has no gradient for this input.
        is_many: Whether it stands for all inputs of a list; the rule then returns a tuple.
    """

    symbol: str
    derivative: str
    rule: Rule
    needs: tuple[str, ...]
    is_many: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Formula:
    r"""How a kind of node turns the gradient of its output into those of its inputs.

    Attributes:
        type: As torch names it: "MulBackward0".
        forward: LaTeX of what the operation computes: `y = a \cdot b`.
        inputs: In the order of the node's `next_functions`.
        symbols: For each name that feeds the derivatives its LaTeX: {"self": "a", "other": "b"}.
        derived: Numbers of the formula that are made of what was saved: {"n": how many elements}.
        remark: What is chosen where the derivative does not exist; a message id, or "".
    """

    type: str
    forward: str
    inputs: tuple[Input, ...]
    symbols: Mapping[str, str] = field(default_factory=dict)
    derived: Mapping[str, Callable[[Values], Any]] = field(default_factory=dict)
    remark: str = ""

    @property
    def backward(self) -> tuple[str, ...]:
        r"""Return a LaTeX line for each input: `\bar{a} = \bar{y} \cdot b`."""
        return tuple(
            rf"\bar{{{each.symbol}}} = {self.written(each.derivative)}" for each in self.inputs
        )

    @property
    def latex(self) -> str:
        r"""Return the lines of all inputs as one."""
        return r" \qquad ".join(self.backward)

    @property
    def saved(self) -> tuple[str, ...]:
        """Return the names of the saved tensors and attributes that feed the derivatives."""
        names = dict.fromkeys(name for each in self.inputs for name in names_in(each))
        return tuple(name for name in names if name not in self.derived)

    def written(self, text: str) -> str:
        """Return a template with this formula's symbols put in."""
        return Template(text).substitute({INCOMING: BAR_Y, **self.symbols})

    def vjp(self, gradient: Array | Sequence[Array | None], values: Values) -> Gradients:
        """Return the gradient of each input, None where the node lacks what it needs.

        As torch's node does, it does not sum over broadcast axes: the engine does that afterwards.

        Args:
            gradient: Of the output; of a node with several outputs, a tuple with one for each.
            values: What the node saved, as `node_values` gives it.
        """
        gradients: list[Any] = []
        for each in self.inputs:
            lacks = any(values.get(name) is None for name in each.needs)
            made = None if lacks else each.rule(gradient, values)
            gradients += made if each.is_many and made is not None else [made]
        return tuple(gradients)


def names_in(one: Input) -> tuple[str, ...]:
    """Return the names that a derivative asks for, without the incoming gradient."""
    names = Template(one.derivative).get_identifiers()
    return tuple(name for name in names if name != INCOMING)


def one_input(
    symbol: str, derivative: str, rule: Rule, *, needs: Sequence[str] | None = None
) -> Input:
    """Return an input; unless told otherwise, it needs all that its derivative names."""
    found = Input(symbol=symbol, derivative=derivative, rule=rule, needs=())
    names = names_in(found) if needs is None else tuple(needs)
    return Input(symbol=symbol, derivative=derivative, rule=rule, needs=names)


def unary(  # noqa: PLR0913  a row of a table
    node_type: str,
    forward: str,
    derivative: str,
    rule: Rule,
    *,
    symbols: Mapping[str, str] | None = None,
    derived: Mapping[str, Callable[[Values], Any]] | None = None,
    needs: Sequence[str] | None = None,
    remark: str = "",
) -> Formula:
    """Return a formula of one input x; `forward` is what follows `y =`."""
    return Formula(
        type=node_type,
        forward=f"y = {forward}",
        inputs=(one_input("x", derivative, rule, needs=needs),),
        symbols={"self": "x", "result": "y", **(symbols or {})},
        derived=derived or {},
        remark=remark,
    )


def binary(  # noqa: PLR0913  a row of a table
    node_type: str,
    forward: str,
    first: tuple[str, Rule],
    second: tuple[str, Rule],
    *,
    symbols: Mapping[str, str] | None = None,
    derived: Mapping[str, Callable[[Values], Any]] | None = None,
    needs: Sequence[str] | None = None,
    remark: str = "",
) -> Formula:
    """Return a formula of two inputs a and b, each with its derivative and its rule."""
    return Formula(
        type=node_type,
        forward=f"y = {forward}",
        inputs=(one_input("a", *first, needs=needs), one_input("b", *second, needs=needs)),
        symbols={"self": "a", "other": "b", "result": "y", **(symbols or {})},
        derived=derived or {},
        remark=remark,
    )
