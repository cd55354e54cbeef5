"""How many FLOPs does training take, and how long?"""

from core.language import N_
from pages.plan.flops_and_time.amounts import choose_rent, choose_rungs, ladder, two_weeks
from pages.plan.flops_and_time.days import choose_run, days, two_runs
from pages.plan.flops_and_time.flops import (
    choose_place,
    choose_step,
    choose_two_layers,
    components,
    rule,
    two_steps,
    why_six,
)
from pages.plan.flops_and_time.inputs import ASK, no_number
from pages.plan.flops_and_time.least_times import (
    choose_matmul,
    choose_transfer,
    matmul,
    transfer,
)
from pages.plan.flops_and_time.lines import choose_plan, lines, two_times
from pages.plan.flops_and_time.peak import (
    choose_measured,
    choose_operations,
    mfu,
    roofline,
    two_shares,
)
from pages.plan.flops_and_time.question import ask_about_the_claim, ask_how_long
from pages.shared.tabbed_page import Page, Tab, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={
            "time": Tab(
                label=N_("Days"),
                choose=choose_run,
                show=days,
                question=ask_how_long,
                compare=two_runs,
            ),
            "components": Tab(
                label=N_("FLOPs breakdown"),
                choose=choose_step,
                show=components,
                compare=two_steps,
            ),
            "lines": Tab(
                label=N_("Time breakdown"), choose=choose_plan, show=lines, compare=two_times
            ),
            "mfu": Tab(label=N_("MFU"), choose=choose_measured, show=mfu, compare=two_shares),
            "roofline": Tab(label=N_("Roofline"), choose=choose_operations, show=roofline),
        },
        more={
            "why": Tab(label=N_("Why 6?"), choose=choose_two_layers, show=why_six),
            "rule": Tab(label=N_("6ND"), choose=choose_place, show=rule),
            "budget": Tab(label=N_("Compute-optimal"), choose=choose_rent, show=two_weeks),
            "ladder": Tab(label=N_("FLOPs ladder"), choose=choose_rungs, show=ladder),
            "matmul": Tab(
                label=N_("Matmul"), choose=choose_matmul, show=matmul, question=ask_about_the_claim
            ),
            "transfer": Tab(label=N_("Transfer"), choose=choose_transfer, show=transfer),
        },
        refusal=no_number,
    ),
)
