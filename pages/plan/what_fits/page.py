"""Which model fits on which device, and what fails first?"""

from core.language import N_
from pages.plan.what_fits import plan
from pages.plan.what_fits.detail import write_code
from pages.plan.what_fits.inputs import ASK, choose_case
from pages.plan.what_fits.map import fits_map
from pages.plan.what_fits.question import ask_about_70b, ask_about_training
from pages.plan.what_fits.reach import reach
from pages.shared.plan.verdict import plan_line
from pages.shared.tabbed_page import Page, Tab, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        code=write_code,
        question=ask_about_training,
        refusal=plan.refusal,
        tabs={
            "plan": plan.TAB,
            "map": Tab(label=N_("Map"), show=fits_map, question=ask_about_70b),
            "reach": Tab(label=N_("Lengths × sequences"), show=reach),
        },
        snippet="fits",
        line=lambda case: plan_line(case.chosen, case.plan.work),
    ),
)
