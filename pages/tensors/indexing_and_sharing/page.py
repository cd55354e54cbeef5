"""Which variables change when I write into one element?"""

from pages.shared.tabbed_page import Page, tabbed_page
from pages.tensors.indexing_and_sharing import (
    creation,
    merged,
    numpy_bridge,
    strided,
    view_or_copy,
    writes,
)
from pages.tensors.indexing_and_sharing.inputs import ASK

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={
            "writes": writes.TAB,
            "index": view_or_copy.TAB,
            "create": creation.TAB,
            "numpy": numpy_bridge.TAB,
            "strided": strided.TAB,
            "merge": merged.TAB,
        },
    ),
)
