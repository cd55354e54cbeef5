"""What makes a tensor, and which storage each makes: programs of one line, run on real tensors."""

from dataclasses import dataclass
from typing import Final

from core.tensors.trace import Step, Trace, trace


@dataclass(frozen=True, kw_only=True, slots=True)
class Creation:
    """One call.

    Attributes:
        key: In links.
        code: The program; {rows} and {columns} are the sliders'.
    """

    key: str
    code: str
    name: str = ""  # in a list, where the key says too little

    @property
    def label(self) -> str:
        """What a list calls it, in code."""
        return self.name or self.key

    @property
    def has_lengths(self) -> bool:
        """Whether rows and columns matter."""
        return "{" in self.code


_TRANSPOSED: Final = "t = torch.arange({count}.0).view({columns}, {rows}).t()\n"
_SQUARES: Final = "x = torch.tensor([1.0, 4.0, 9.0])\n"
CREATIONS: Final = (
    Creation(key="zeros", code="torch.zeros({rows}, {columns})"),
    Creation(key="ones", code="torch.ones({rows}, {columns})"),
    Creation(
        key="half",
        name="ones, float16",
        code="torch.ones({rows}, {columns}, dtype=torch.float16)",
    ),
    Creation(key="full", code="torch.full(({rows}, {columns}), 7)"),
    Creation(key="empty", code="torch.empty({rows}, {columns})"),
    Creation(key="rand", code="torch.rand({rows}, {columns})"),
    Creation(key="randn", code="torch.randn({rows}, {columns})"),
    Creation(key="arange", code="torch.arange({count})"),
    Creation(key="arange_float", name="arange, float", code="torch.arange({count}.0)"),
    Creation(key="linspace", code="torch.linspace(0, 1, {count})"),
    Creation(key="eye", code="torch.eye({rows}, {columns})"),
    Creation(key="tensor", name="tensor, int", code="torch.tensor([[1, 2], [3, 4]])"),
    Creation(
        key="tensor_float", name="tensor, float", code="torch.tensor([[1.0, 2.0], [3.0, 4.0]])"
    ),
    Creation(key="zeros_like", code=_TRANSPOSED + "torch.zeros_like(t)"),
    Creation(key="clone", code=_TRANSPOSED + "t.clone()"),
    Creation(key="expand", code="x = torch.ones({rows}, 1)\nx.expand({rows}, {columns})"),
    Creation(key="pow", code=_SQUARES + "x.pow(2)"),
    Creation(key="sqrt", code=_SQUARES + "x.sqrt()"),
    Creation(key="rsqrt", code=_SQUARES + "x.rsqrt()"),
    Creation(key="add", name="x + x", code=_SQUARES + "x + x"),
    Creation(key="double", name="x * 2", code=_SQUARES + "x * 2"),
    Creation(key="divide", name="x / 0.5", code=_SQUARES + "x / 0.5"),
)  # fmt: skip
BY_KEY: Final = {row.key: row for row in CREATIONS}


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """What a call made: the program, its steps, the last of them, and the values of its result."""

    code: str
    trace: Trace
    step: Step
    values: tuple[float, ...]


def make(key: str, rows: int, columns: int) -> Made:
    """Run one call.

    Args:
        key: Of `CREATIONS`.
        rows: From 1.
        columns: From 1; where there is one dimension, it has rows * columns elements.

    Raises:
        ValueError: If the key is not known, or a length is below 1.
    """
    if key not in BY_KEY or min(rows, columns) < 1:
        known = ", ".join(BY_KEY)
        raise ValueError(f"{key!r} with {rows} x {columns}: use lengths from 1 and one of {known}")
    code = BY_KEY[key].code.format(rows=rows, columns=columns, count=rows * columns)
    ran = trace(code, {})
    if ran.error is not None:
        raise ran.error
    last = ran.steps[-1]
    made = last.outputs[0]
    (storage,) = [each for each in ran.storages if each.key == made.storage]
    values = tuple(storage.values[place] for place in made.layout.addresses().flatten().tolist())
    return Made(code=code, trace=ran, step=last, values=values)


def last_line(code: str) -> str:
    """Return the call that the row is about."""
    return code.rpartition("\n")[2]
