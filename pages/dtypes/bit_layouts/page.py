"""What does each bit of a number mean?"""

from core.language import N_
from pages.dtypes.bit_layouts.designer import choose_design, designer
from pages.dtypes.bit_layouts.grid import codes, grid
from pages.dtypes.bit_layouts.inputs import ASK, choose_number
from pages.dtypes.bit_layouts.numbers import choose_numbers, numbers
from pages.dtypes.bit_layouts.question import ask_below_one, show_reading
from pages.dtypes.bit_layouts.side import ask_side, choose_side, side
from pages.shared.tabbed_page import Page, Tab, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={
            "grid": Tab(
                label=N_("One number"), show=grid, choose=choose_number, question=ask_below_one
            ),
            "side": Tab(label=N_("Side by side"), show=side, choose=choose_side, question=ask_side),
            "codes": Tab(
                label=N_("All codes"), show=codes, choose=choose_number, question=ask_below_one
            ),
            "numbers": Tab(label=N_("Ranges and finfo"), show=numbers, choose=choose_numbers),
            "designer": Tab(label=N_("Designer"), show=designer, choose=choose_design),
        },
        reading=show_reading,
    ),
)
