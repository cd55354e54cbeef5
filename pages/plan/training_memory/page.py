"""What fills the memory of a device while a model trains?"""

from core.language import N_
from pages.plan.training_memory.allocator import allocator, choose_line
from pages.plan.training_memory.bar import bar, two_settings
from pages.plan.training_memory.inputs import ASK, choose_case, refusal, write_code
from pages.plan.training_memory.items import choose_item, items
from pages.plan.training_memory.question import ask_what_is_reserved, ask_when_it_peaks
from pages.plan.training_memory.recipes import choose_recipes, recipes
from pages.plan.training_memory.step_timeline import timeline
from pages.shared.plan.verdict import plan_line
from pages.shared.tabbed_page import Page, Tab, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        code=write_code,
        snippet="memory",
        refusal=refusal,
        line=lambda case: plan_line(case.chosen, "train"),
        tabs={
            "bar": Tab(
                label=N_("Device"), show=bar, question=ask_when_it_peaks, compare=two_settings
            ),
            "items": Tab(label=N_("Breakdown"), show=items, choose=choose_item),
            "recipes": Tab(label=N_("Bytes per parameter"), show=recipes, choose=choose_recipes),
            "timeline": Tab(label=N_("Step timeline"), show=timeline, question=ask_when_it_peaks),
            "allocator": Tab(
                label=N_("Allocator"),
                show=allocator,
                choose=choose_line,
                with_inputs=False,
                question=ask_what_is_reserved,
            ),
        },
    ),
)
