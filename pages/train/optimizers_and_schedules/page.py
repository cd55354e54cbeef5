"""Which way, and how far, does an optimizer step?"""

from functools import partial

from core.language import N_
from pages.shared.tabbed_page import Page, Tab, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs
from pages.train.optimizers_and_schedules.clipping import choose_network, clipping_tab
from pages.train.optimizers_and_schedules.inputs import ASK, choose_case
from pages.train.optimizers_and_schedules.loop import choose_loop, loop_tab
from pages.train.optimizers_and_schedules.memory import memory_tab
from pages.train.optimizers_and_schedules.question import ask_first_step, ask_too_short
from pages.train.optimizers_and_schedules.race import race_tab
from pages.train.optimizers_and_schedules.rule import choose_switches, rule_tab
from pages.train.optimizers_and_schedules.schedules import choose_schedule, schedules_tab

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        question=ask_first_step,
        refusal=partial(refused_inputs, N_("There is no race.")),
        tabs={
            "race": Tab(label=N_("Race"), show=race_tab),
            "rule": Tab(
                label=N_("Update rule"),
                show=rule_tab,
                choose=choose_switches,
                unseen=("surface", "who", "steps"),
            ),
            "schedules": Tab(
                label=N_("Schedules"),
                show=schedules_tab,
                choose=choose_schedule,
                with_inputs=False,
                question=ask_too_short,
            ),
            "clipping": Tab(
                label=N_("Gradient clipping"),
                show=clipping_tab,
                choose=choose_network,
                with_inputs=False,
            ),
            "loop": Tab(
                label=N_("Training loop"), show=loop_tab, choose=choose_loop, with_inputs=False
            ),
            "memory": Tab(label=N_("Optimizer state"), show=memory_tab, with_inputs=False),
        },
    ),
)
