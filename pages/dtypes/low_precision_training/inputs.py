"""What the labs ask alike: a format."""

from collections.abc import Sequence
from typing import Final

from core.figures.dtypes.written import short
from core.language import _
from pages.shared.inputs import Inputs

ASK: Final = Inputs("lowp")
FORMAT_NAMES: Final = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
"""All of them are dtypes of torch under the same name."""


def cast_code(name: str, wide: str = "float") -> str:
    """Return the lines of a function that stores a tensor of torch in a format, and widens it."""
    lines = [f"return x.to(torch.{name}).{wide}()"]
    if name == "float8_e4m3fn":
        # Older versions of torch do so by themselves.
        too_large = "x = x.masked_fill(x.abs() > 464, torch.nan)  # newer torch saturates at 448"
        lines.insert(0, too_large)
    return "\n    ".join(lines)


def choose_format(
    name: str, *, default: str = "bfloat16", names: Sequence[str] = FORMAT_NAMES
) -> str:
    return ASK.segmented(name, _("Number format"), names, default=default, labels=short)
