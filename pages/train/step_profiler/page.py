"""Where does a training step spend its time?"""

from functools import partial

from core.language import N_
from pages.shared.tabbed_page import Page, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs
from pages.train.step_profiler import anatomy, numbers, operators
from pages.train.step_profiler.inputs import ASK, choose_case
from pages.train.step_profiler.question import ask_backward

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        question=ask_backward,
        refusal=partial(refused_inputs, N_("There is no such step.")),
        tabs={"anatomy": anatomy.TAB, "operators": operators.TAB, "numbers": numbers.TAB},
    ),
)
