"""Why do sums, updates and gradients get lost in 16 bits?"""

from collections.abc import Callable, Mapping

import streamlit as st

from core.language import _
from pages.dtypes.low_precision_training.loss_scale import show_loss_scale
from pages.dtypes.low_precision_training.matmul import show_matmul
from pages.dtypes.low_precision_training.pictures import show_pictures
from pages.dtypes.low_precision_training.places import PAGE
from pages.dtypes.low_precision_training.question import ask_exp, ask_sum, ask_update
from pages.dtypes.low_precision_training.scaler import show_scaler
from pages.dtypes.low_precision_training.softmax import show_softmax
from pages.dtypes.low_precision_training.stochastic import show_stochastic
from pages.dtypes.low_precision_training.sums import show_sums
from pages.dtypes.low_precision_training.updates import show_updates
from pages.shared import pickers
from pages.shared.header import page_header
from pages.shared.prose import prose
from pages.shared.snippets import show_code

LABS: Mapping[str, Callable[[], str]] = {
    "sums": show_sums,
    "updates": show_updates,
    "softmax": show_softmax,
    "scale": show_loss_scale,
    "scaler": show_scaler,
    "stochastic": show_stochastic,
    "matmul": show_matmul,
    "pictures": show_pictures,
}
QUESTIONS = {"sums": ask_sum, "updates": ask_update, "softmax": ask_exp}


def tab_label(tab: str) -> str:
    """Return the word on the switch of a lab."""
    return {
        "sums": _("Sums"),
        "updates": _("Updates"),
        "softmax": _("Softmax"),
        "scale": _("Loss scale"),
        "scaler": _("GradScaler"),
        "stochastic": _("Stochastic"),
        "matmul": _("Matmul"),
        "pictures": _("Picture"),
    }[tab]


page_header(__doc__)
tab = pickers.segmented(PAGE, "tab", _("Lab"), list(LABS), default="sums", labels=tab_label)
code = LABS[tab]()
words, below = st.columns(2, gap="large")
with words:
    prose(__file__, tab)
with below:
    QUESTIONS.get(tab, ask_sum)()
    show_code(tab, code)
