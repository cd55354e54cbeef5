"""What does a training step read?"""

from functools import partial

from core.language import N_
from pages.shared.tabbed_page import Page, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs
from pages.train.data_and_batches import files, loader, ranks, windows
from pages.train.data_and_batches.inputs import ASK, choose_case
from pages.train.data_and_batches.question import ask_last_token

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        question=ask_last_token,
        refusal=partial(refused_inputs, N_("There is no such batch.")),
        tabs={
            "windows": windows.TAB,
            "ranks": ranks.TAB,
            "loader": loader.TAB,
            "files": files.TAB,
        },
    ),
)
