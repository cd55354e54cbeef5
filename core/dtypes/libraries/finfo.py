"""torch.finfo beside the specification: where the library's own table is wrong or silent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from core.dtypes.format import Format
from core.dtypes.formats import FORMATS
from core.dtypes.libraries.library_records import InfoRow
from core.language import N_

# A quantity of torch.finfo: the attribute of our formats that means the same.
QUANTITIES: Final[Mapping[str, str | None]] = MappingProxyType(
    {
        "bits": "bits",
        "max": "max",
        "min": "min",
        "tiny": "smallest_normal",
        "smallest_normal": "smallest_normal",
        "smallest_subnormal": "smallest_subnormal",
        "eps": "eps",
        "resolution": None,
    }
)
WHOLE: Final = ("bits", "max", "min")  # all that torch.iinfo knows
_SOURCE: Final = "torch.finfo, asked here"


@dataclass(frozen=True, kw_only=True, slots=True)
class FinfoRow:
    """One number of one dtype, by torch and by the specification.

    Attributes:
        dtype: Torch's name of it.
        quantity: "max", "tiny", "eps", ...
        torch: What torch.finfo or torch.iinfo says; None when it raises.
        message: Torch's own words when it raises.
        ours: The number of the specification; None where none is defined.
        reason: Why they differ, as a sentence to be translated; "" when they agree.
    """

    dtype: str
    quantity: str
    torch: float | None
    message: str
    ours: float | None
    reason: str

    @property
    def agrees(self) -> bool:
        """Whether torch says what the specification says."""
        return self.ours is None or self.torch == self.ours


_REASONS: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("float8_e5m2fnuz", "eps"): N_(
            "torch is wrong: 1.0 is followed by 1.25, so that the gap is 0.25"
        ),
        ("float4_e2m1fn_x2", "bits"): N_("torch counts the byte that holds two numbers"),
    }
)
_NOT_THERE: Final = N_("torch.finfo has no such field")
_NOT_MADE: Final = N_("torch knows the dtype by name only")


def finfo_rows(infos: Iterable[InfoRow]) -> tuple[FinfoRow, ...]:
    """Return torch's numbers beside ours, for each dtype that has a format here.

    Args:
        infos: `LibraryReport.infos`, asked in a child process: no torch is needed here.
    """
    return tuple(_row(info, fmt) for info in infos if (fmt := format_of(info.dtype)) is not None)


def format_of(dtype: str) -> Format | None:
    """Return the format of a torch dtype; two E2M1 numbers share a byte under a name of their own.

    >>> format_of("float4_e2m1fn_x2").name
    'float4_e2m1fn'
    """
    return FORMATS.get(dtype.removesuffix("_x2"))


def _row(info: InfoRow, fmt: Format) -> FinfoRow:
    attribute = QUANTITIES[info.quantity]
    ours = None if attribute is None else float(getattr(fmt, attribute))
    agrees = ours is None or ours == info.value
    return FinfoRow(
        dtype=info.dtype,
        quantity=info.quantity,
        torch=info.value,
        message=info.message,
        ours=ours,
        reason="" if agrees else _reason(info),
    )


def _reason(info: InfoRow) -> str:
    known = _REASONS.get((info.dtype, info.quantity), "")
    if known or info.value is not None:
        return known
    return _NOT_THERE if "has no attribute" in info.message else _NOT_MADE
