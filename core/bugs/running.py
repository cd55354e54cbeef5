"""Code of the cards, run as a cell of a notebook: its last line is the answer."""

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pickle import UnpicklingError
from typing import Any, Final

# What a cell may name without saying where it comes from; a program has these lines at its top.
_IMPORTS: Final = {
    "io": "import io",
    "math": "import math",
    "re": "import re",
    "tempfile": "import tempfile",
    "Path": "from pathlib import Path",
    "np": "import numpy as np",
    "torch": "import torch",
    "reduce": "from einops import reduce",
    "nn": "from torch import nn",
    "F": "from torch.nn import functional as F",
    "TorchDispatchMode": "from torch.utils._python_dispatch import TorchDispatchMode",
    "checkpoint": "from torch.utils.checkpoint import checkpoint",
    "Stack": "from core.autograd.layer_stack import Stack",
    "run": "from core.autograd.recomputation import run",
    "DEVICES": "from core.budget import DEVICES",
    "MODELS": "from core.budget import MODELS",
    "two_layer_flops": "from core.budget.by_hand.rules import two_layer_flops",
    "counts": "from core.budget.weights.parameters import counts",
    "GPT": "from core.models.gpt import GPT",
    "GPTShape": "from core.models.spec import GPTShape",
}
_REFUSALS: Final = (
    ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError,
    UnpicklingError, ValueError,
)  # fmt: skip
_COLOURS: Final = re.compile(r"\x1b\[\d+m")


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a cell gave.

    Attributes:
        text: As it is shown; of an error or a warning its type.
        amount: The number, if it is one that has a length in a picture.
        message: Of an error or a warning, in torch's own words.
    """

    text: str
    amount: float | None = None
    message: str = ""


def imports_of(*cells: str) -> list[str]:
    """Return the lines that these cells need above them, as a program has them."""
    together = "\n".join(cells)
    return [line for name, line in _IMPORTS.items() if re.search(rf"(?<![.\w]){name}\b", together)]


def run_cell(code: str, written: str = "{}", *, hears_warnings: bool = False) -> Answer:
    """Run a cell and return its last line's value, or the error that it ended with.

    Args:
        code: Of a card; nothing that a reader typed.
        written: How a number is written: "{:.1f} GB".
        hears_warnings: Whether the first warning is the answer; else warnings are not looked at.
    """
    from core.models.chance import alone_with_chance

    with alone_with_chance(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        _let_storage_warn(always=True)
        try:
            value = _last_value(code)
        except _REFUSALS as error:
            return Answer(text=type(error).__name__, message=_COLOURS.sub("", str(error)))
        finally:
            _let_storage_warn(always=False)
    if hears_warnings and told:
        return Answer(text=told[0].category.__name__, message=str(told[0].message))
    return _answer(value, written)


def program(cells: Sequence[str], *, may_fail: bool) -> str:
    """Return cells as one program that prints what each gives, one below the other.

    Args:
        cells: Each ends with the line whose value is its answer.
        may_fail: Whether one ends with an error or a warning, which is printed then.
    """
    extra = ["import warnings"] if may_fail else []
    parts = ["\n".join([*extra, *imports_of(*cells)])] if extra or imports_of(*cells) else []
    return "\n\n".join([*parts, *(_printing(cell, may_fail=may_fail) for cell in cells)])


def _printing(cell: str, *, may_fail: bool) -> str:
    body, _newline, last = cell.strip().rpartition("\n")
    value, hash_sign, comment = last.partition("  #")
    lines = [*body.splitlines(), f"print({value}){hash_sign}{comment}"]
    if not may_fail:
        return "\n".join(lines)
    inside = [f"        {line}" if line else "" for line in lines]
    return "\n".join(
        [
            "with warnings.catch_warnings(record=True) as told:",
            '    warnings.simplefilter("always")',
            "    try:",
            *inside,
            "    except Exception as error:",
            "        print(type(error).__name__, error)",
            "for each in told:",
            "    print(each.category.__name__, each.message)",
        ]
    )


def _last_value(code: str) -> Any:  # noqa: ANN401  whatever the last line gives
    body, _newline, last = code.strip().rpartition("\n")
    names: dict[str, Any] = {"__name__": "card"}
    exec("\n".join([*imports_of(code), body]), names)  # noqa: S102  rows of our own tables
    return eval(last, names)  # noqa: S307


def _answer(value: object, written: str) -> Answer:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Answer(text=str(value))
    amount = float(value) if math.isfinite(value) else None
    return Answer(text=written.format(value), amount=amount)


def _let_storage_warn(*, always: bool) -> None:
    """Let torch warn at every `x.storage()`: by itself it does so once a process."""
    from torch import storage

    storage._set_always_warn_typed_storage_removal(always)
