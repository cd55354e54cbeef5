"""What does a broken training run look like?"""

from pages.shared.tabbed_page import Page, tabbed_page
from pages.train.break_it import curves
from pages.train.break_it.inputs import ASK, choose_case

tabbed_page(__file__, __doc__, Page(inputs=ASK, choose=choose_case, tabs={"curves": curves.TAB}))
