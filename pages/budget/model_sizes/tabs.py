"""The tabs of the page of model sizes: only the open one is computed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from pages.budget.model_sizes.inputs import Case
from pages.budget.model_sizes.model import show_model
from pages.budget.model_sizes.parts import show_parts
from pages.budget.model_sizes.table import show_table
from pages.budget.model_sizes.tensor import show_tensor

CSS: Final = Path(__file__).with_name("page.css")
PICTURES: Final[Mapping[str, Callable[[Case], str]]] = {
    "model": show_model,
    "table": show_table,
    "parts": show_parts,
    "tensor": show_tensor,
}
