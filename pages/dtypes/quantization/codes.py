"""What A and B make of the tensor: the codes of one part of it, and the errors of all of it."""

import streamlit as st

from core.dtypes.blocks.storage_trials import make_losses, make_trial
from core.dtypes.blocks.stored_part import make_sides
from core.figures.dtypes.quantization.codes import codes_picture
from core.figures.dtypes.quantization.error import error_picture
from pages.dtypes.quantization.inputs import Case, error_notes, qualities
from pages.dtypes.quantization.snippets import quality_code
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

sides_of = st.cache_data(max_entries=32, show_spinner=False)(make_sides)
losses_of = st.cache_data(max_entries=32, show_spinner=False)(make_losses)


def codes(case: Case) -> Shown:
    """Show one part of the tensor in both formats, cell by cell."""
    num_columns, num_rows = (4, 10) if presenting() else (16, 16)
    sides = sides_of(
        case.chosen.x, case.pair, case.where, num_rows=num_rows, num_columns=num_columns
    )
    trials = [make_trial(side.name, side.bits, side.stats) for side in sides]
    return Shown(
        headline=qualities(trials),
        charts=[Chart(picture=codes_picture(sides, look()), file_name="quantized-part")],
        notes=[*case.chosen.notes(), *error_notes(trials)],
        code=quality_code(case, is_whole=all(trial.is_whole for trial in trials)),
    )


def error(case: Case) -> Shown:
    """Show where both formats lose and how much."""
    losses = losses_of(case.chosen.x, case.pair)
    found = {
        loss.name: make_trial(loss.name, storage.bits_per_value, loss.stats)
        for loss, storage in zip(losses, case.pair, strict=True)
    }
    trials = list(found.values())
    return Shown(
        headline=qualities(trials),
        charts=[Chart(picture=error_picture(losses, look()), file_name="quantization-error")],
        notes=[*case.chosen.notes(), *error_notes(trials)],
        code=quality_code(case, is_whole=all(trial.is_whole for trial in trials)),
    )
