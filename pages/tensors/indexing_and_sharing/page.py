"""Which variables change when I write into one element?"""

from core.language import N_
from pages.shared.tabbed_page import Page, Tab, tabbed_page
from pages.tensors.indexing_and_sharing.creation import creation
from pages.tensors.indexing_and_sharing.inputs import (
    ASK,
    choose_bridge,
    choose_call,
    choose_heads,
    choose_pair,
    choose_program,
    choose_window,
)
from pages.tensors.indexing_and_sharing.merged import merged
from pages.tensors.indexing_and_sharing.numpy_bridge import between_numpy
from pages.tensors.indexing_and_sharing.question import ask_who_changes
from pages.tensors.indexing_and_sharing.strided import strided
from pages.tensors.indexing_and_sharing.view_or_copy import view_or_copy
from pages.tensors.indexing_and_sharing.writes import writes

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={
            "writes": Tab(
                label=N_("Writes"), show=writes, choose=choose_program, question=ask_who_changes
            ),
            "index": Tab(label=N_("View or copy"), show=view_or_copy, choose=choose_pair),
            "create": Tab(label=N_("Creation"), show=creation, choose=choose_call),
            "numpy": Tab(label=N_("NumPy"), show=between_numpy, choose=choose_bridge),
            "strided": Tab(label=N_("as_strided"), show=strided, choose=choose_window),
            "merge": Tab(label=N_("Reshape is not transpose"), show=merged, choose=choose_heads),
        },
    ),
)
