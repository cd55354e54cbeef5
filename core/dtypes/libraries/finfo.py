"""Where torch.finfo leaves the specification, and why; torch itself answers in a child process."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from core.dtypes.libraries.library_records import InfoRow
from core.dtypes.number_formats.format import Format
from core.dtypes.number_formats.table import FORMATS
from core.language import N_

# What torch.finfo and our formats call alike; torch.iinfo knows the first alone.
QUANTITIES: Final = ("max", "smallest_normal", "smallest_subnormal", "eps")


@dataclass(frozen=True, kw_only=True, slots=True)
class FinfoRow:
    """One number of one dtype, by torch and by the specification."""

    dtype: str
    quantity: str  # one of `QUANTITIES`
    torch: float | None  # what torch.finfo or torch.iinfo says; None when it raises
    ours: float  # the number of the specification
    reason: str  # why they differ, as a sentence to be translated; "" when they agree

    @property
    def agrees(self) -> bool:
        """Whether torch says what the specification says."""
        return self.torch == self.ours


_REASONS: Final[Mapping[tuple[str, str], str]] = {
    ("float8_e5m2fnuz", "eps"): N_(
        "torch is wrong: 1.0 is followed by 1.25, so that the gap is 0.25"
    )
}
_NOT_THERE: Final = N_("torch.finfo has no such field")
_NOT_MADE: Final = N_("torch knows the dtype by name only")


def finfo_rows(infos: Iterable[InfoRow]) -> tuple[FinfoRow, ...]:
    """Return torch's numbers beside ours, for each dtype that has a format here."""
    return tuple(_row(info, fmt) for info in infos if (fmt := format_of(info.dtype)) is not None)


def format_of(dtype: str) -> Format | None:
    """Return the format of a torch dtype; two E2M1 numbers share a byte under a name of their own.

    >>> format_of("float4_e2m1fn_x2").name
    'float4_e2m1fn'
    """
    return FORMATS.get(dtype.removesuffix("_x2"))


def _row(info: InfoRow, fmt: Format) -> FinfoRow:
    ours = float(getattr(fmt, info.quantity))
    reason = ""
    if info.value is None:
        reason = _NOT_THERE if "has no attribute" in info.message else _NOT_MADE
    elif ours != info.value:
        reason = _REASONS.get((info.dtype, info.quantity), "")
    return FinfoRow(
        dtype=info.dtype, quantity=info.quantity, torch=info.value, ours=ours, reason=reason
    )
