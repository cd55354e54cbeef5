"""What every uploaded file must be: small, not empty, and full of finite real numbers."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.sample_tensors import MAX_VALUES
from core.language import _, ngettext

MAX_BYTES: Final = 5 * 10**6


def refusal(name: str, reason: str) -> ValueError:
    """Return the error that refuses the file of that name."""
    return ValueError(_("{name}: {reason}").format(name=name, reason=reason))


def cut_short(name: str, num_missing: int) -> ValueError:
    """Return the error that refuses a file whose last bytes are missing."""
    missing = ngettext(
        "The file ends {count} byte too early: save or copy it again.",
        "The file ends {count} bytes too early: save or copy it again.",
        num_missing,
    )
    return refusal(name, missing.format(count=f"{num_missing:,}"))


def check_size(name: str, data: bytes) -> None:
    """Refuse a file that is empty or larger than 5 MB.

    Raises:
        ValueError: If it is.
    """
    if not data:
        raise refusal(name, _("The file is empty: save a tensor into it."))
    if len(data) > MAX_BYTES:
        size = _("{size:.1f} MB are too many: use at most {most} MB.")
        raise refusal(name, size.format(size=len(data) / 10**6, most=MAX_BYTES // 10**6))


def check_count(name: str, num_values: int) -> None:
    """Refuse a tensor without values or with too many; asked before memory is taken.

    Raises:
        ValueError: If there are none, or more than 16,777,216.
    """
    if not 1 <= num_values <= MAX_VALUES:
        count = _("It holds {count} values: use 1 to {most}.")
        raise refusal(name, count.format(count=f"{num_values:,}", most=f"{MAX_VALUES:,}"))


def finite_single(name: str, values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Return the values as float32, in their shape.

    Raises:
        ValueError: If one is NaN, infinite, or too large for float32.
    """
    if num_wrong := int((~np.isfinite(values)).sum()):
        wrong = _("NaN or infinite values: {count}. Save a tensor of finite numbers.")
        raise refusal(name, wrong.format(count=f"{num_wrong:,}"))
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(values, dtype=np.float32).reshape(values.shape)
    if num_wrong := int(np.isinf(single).sum()):
        wrong = _("Values beyond float32, 3.4e38: {count}. Scale the tensor down.")
        raise refusal(name, wrong.format(count=f"{num_wrong:,}"))
    return single
