"""What makes a tensor, and which storage each makes: programs of one line, run on real tensors."""

from dataclasses import dataclass
from typing import Final

from core.tensors.examples import examples
from core.tensors.trace import Step, Trace, trace


@dataclass(frozen=True, kw_only=True, slots=True)
class Creation:
    """One call; {rows}, {columns} and their product {count} are the sliders'."""

    code: str
    label: str = ""  # in a list, where the key says too little


CREATIONS: Final = examples("creation", Creation)


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
    """
    code = CREATIONS[key].code.format(rows=rows, columns=columns, count=rows * columns)
    ran = trace(code, {})
    if ran.error is not None:
        raise ran.error
    last = ran.steps[-1]
    made = last.outputs[0]
    (storage,) = [each for each in ran.storages if each.key == made.storage]
    values = tuple(storage.values[place] for place in made.layout.addresses().flatten().tolist())
    return Made(code=code, trace=ran, step=last, values=values)
