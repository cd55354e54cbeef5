"""Which way, and how far, does an optimizer step?"""

from functools import partial

from core.language import N_
from pages.shared.tabbed_page import Page, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs
from pages.train.optimizers_and_schedules import clipping, loop, race, rule, schedules
from pages.train.optimizers_and_schedules.inputs import ASK, choose_case
from pages.train.optimizers_and_schedules.question import ask_first_step

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        question=ask_first_step,
        refusal=partial(refused_inputs, N_("There is no race.")),
        tabs={
            "rule": rule.TAB,
            "race": race.TAB,
            "schedules": schedules.TAB,
            "clipping": clipping.TAB,
            "loop": loop.TAB,
        },
    ),
)
