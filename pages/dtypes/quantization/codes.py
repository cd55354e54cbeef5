"""What A and B make of the tensor: the codes of one part of it, and the errors of all of it."""

from typing import Final

import streamlit as st

from core.dtypes.blocks.storage_trials import make_losses
from core.dtypes.blocks.stored_part import make_sides
from core.figures.dtypes.quantization.codes import codes_picture
from core.figures.dtypes.quantization.error import error_picture, size_text
from core.language import _
from pages.dtypes.quantization.inputs import FIND, QUALITY, Case, lost, qualities
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

_ERROR: Final = """
x = {tensor}
for storage in ({first}, {second}):
    stats = storage.store(x).stats
    print(f"{{storage.name}}: RMS error {{stats.rmse:.3g}}, largest {{stats.max_abs:.3g}}")
"""
sides_of = st.cache_data(max_entries=32, show_spinner=False)(make_sides)
losses_of = st.cache_data(max_entries=32, show_spinner=False)(make_losses)


def codes(case: Case) -> Shown:
    """Show one part of the tensor in both formats, cell by cell."""
    num_columns, num_rows = (8, 12) if presenting() else (16, 16)
    sides = sides_of(
        case.chosen.x, case.pair, case.where, num_rows=num_rows, num_columns=num_columns
    )
    return Shown(
        headline=qualities(
            [(each.name, each.stats.sqnr_db, each.bits, each.stats.lost_share) for each in sides]
        ),
        charts=[Chart(picture=codes_picture(sides, look()), file_name="quantized-part")],
        notes=case.chosen.notes(),
        code=case.code(QUALITY, FIND),
    )


def error(case: Case) -> Shown:
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
    return Shown(
        headline=_("; ").join(parts),
        charts=[Chart(picture=error_picture(losses, look()), file_name="quantization-error")],
        notes=case.chosen.notes(),
        code=case.code(_ERROR, FIND),
    )
