"""The pictures of the quantization page, one a tab: only the open one is computed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from core.figures.dtypes.quantization.block_side import block_alt, block_table
from core.figures.dtypes.quantization.block_view import block_view
from core.figures.dtypes.quantization.error_map import (
    error_alt,
    error_figure,
    error_table,
    size_text,
)
from core.language import _
from pages.dtypes.quantization.chosen import PAGE
from pages.dtypes.quantization.inputs import Case, lost, qualities
from pages.dtypes.quantization.quantized_model import show_bytes
from pages.dtypes.quantization.surveys import (
    show_groups,
    show_nf4,
    show_rules,
    show_standing,
)
from pages.dtypes.quantization.trials import losses_of, sides_of
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode


def show_codes(case: Case) -> None:
    """Show one part of the tensor in both formats, cell by cell."""
    num_columns, num_rows = (8, 12) if presenting() else (16, 16)
    sides = sides_of(case.chosen.x, case.pair, case.where, num_rows, num_columns)
    headline(
        qualities(
            [(each.name, each.stats.sqnr_db, each.bits, each.stats.lost_share) for each in sides]
        )
    )
    show_chart(
        block_view(sides, theme_mode(), present=presenting()),
        key=f"{PAGE}_codes",
        alt=block_alt(sides),
        table=block_table(sides),
        file_name="quantized-part",
    )


def show_error(case: Case) -> None:
    """Show where both formats lose and how much."""
    losses = losses_of(case.chosen.x, case.pair)
    parts = [
        _("{name}: RMS error {rmse}, largest {largest}").format(
            name=f"`{loss.name}`",
            rmse=size_text(loss, loss.stats.rmse),
            largest=size_text(loss, loss.stats.max_abs),
        )
        + lost(loss.stats.lost_share)
        for loss in losses
    ]
    headline(_("; ").join(parts))
    show_chart(
        error_figure(losses, theme_mode(), present=presenting()),
        key=f"{PAGE}_error",
        alt=error_alt(losses),
        table=error_table(losses),
        file_name="quantization-error",
    )


def show_bytes_of(case: Case) -> None:
    """Show the bytes of whole models in both formats."""
    show_bytes(case.pair)


CSS: Final = Path(__file__).with_name("page.css")
PICTURES: Final[Mapping[str, Callable[[Case], None]]] = {
    "codes": show_codes,
    "error": show_error,
    "standing": show_standing,
    "rules": show_rules,
    "groups": show_groups,
    "nf4": show_nf4,
    "bytes": show_bytes_of,
}


def tab_label(tab: str) -> str:
    """Return the word on the switch of a tab."""
    return {
        "codes": _("Codes"),
        "error": _("Error"),
        "standing": _("Quality and size"),
        "rules": _("Scale rules"),
        "groups": _("Groups"),
        "nf4": _("NF4"),
        "bytes": _("Bytes"),
    }[tab]


def choose_tab() -> str:
    """Show the tabs and return the open one."""
    return pickers.segmented(
        PAGE, "tab", _("Show"), tuple(PICTURES), default="codes", labels=tab_label
    )
