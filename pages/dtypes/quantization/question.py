"""Questions of the quantization page; their answers are computed from the tensors themselves."""

from typing import Final

import streamlit as st

from core.dtypes.blocks.sample_tensors import looked_at, teaching_tensor
from core.dtypes.blocks.storage import find_storage
from core.dtypes.blocks.storage_trials import Trial, try_all
from core.language import _
from core.units import format_decibels
from pages.shared.questions import Choice, predict_then_reveal

ASKED: Final = ("int8_tensor", "mxfp8_e4m3", "nvfp4", "bfloat16")


@st.cache_data(max_entries=1, show_spinner=False)
def _outlier_trials() -> tuple[Trial, ...]:
    x = looked_at(teaching_tensor("with_outliers", 256, 0))
    return try_all(x, [find_storage(name) for name in ASKED])


def ask_about_outliers() -> None:
    trials = _outlier_trials()
    worst = min(trials, key=lambda trial: trial.sqnr_db)
    choices = [
        Choice(trial.name, None if trial is worst else _why_wrong(trial)) for trial in trials
    ]
    results = [
        _("{name}: {sqnr} at {bits} bits").format(
            name=f"`{trial.name}`", sqnr=format_decibels(trial.sqnr_db), bits=f"{trial.bits:.4g}"
        )
        for trial in trials
    ]
    predict_then_reveal(
        "quant_outliers",
        _("One value in a thousand is 50 times as large as the others. Which format loses most?"),
        choices,
        _(
            "One scale must reach the largest value, so the steps grow for all others. Measured: "
            "{results}."
        ).format(results=_(", ").join(results)),
    )


def _why_wrong(trial: Trial) -> str:
    template = _("{name} keeps {sqnr}: an outlier spoils at most the block that it lies in.")
    if trial.name == "bfloat16":
        template = _("{name} keeps {sqnr}: every value has an exponent of its own.")
    return template.format(name=f"`{trial.name}`", sqnr=format_decibels(trial.sqnr_db))
