"""What the labs ask alike: a format."""

from collections.abc import Sequence
from typing import Final

from core.figures.dtypes.written import short
from core.language import _
from pages.shared.inputs import Inputs

ASK: Final = Inputs("lowp")
FORMAT_NAMES: Final = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")


def choose_format(
    name: str, *, default: str = "bfloat16", names: Sequence[str] = FORMAT_NAMES
) -> str:
    """Show formats side by side and return the name of the chosen one.

    Args:
        name: The setting's name: "sum_format".
        default: The format before anybody chose.
        names: Those to choose from.
    """
    return ASK.segmented(name, _("Format"), names, default=default, labels=short)
