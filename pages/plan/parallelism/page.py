"""What does each device hold, and what must it send?"""

from core.language import N_
from pages.plan.parallelism.inputs import ASK, choose_case, refusal
from pages.plan.parallelism.links import links, schedule
from pages.plan.parallelism.moving import choose_collective, moving
from pages.plan.parallelism.programs import choose_card, programs
from pages.plan.parallelism.question import ask_about_the_ring, ask_which_stage
from pages.plan.parallelism.ranks import ranks, sharding, stages
from pages.plan.parallelism.ring import choose_ring, ring
from pages.shared.tabbed_page import Page, Tab, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        refusal=refusal,
        tabs={
            "stages": Tab(label=N_("Stages"), show=stages, question=ask_which_stage),
            "moving": Tab(
                label=N_("Collectives"),
                show=moving,
                choose=choose_collective,
                question=ask_about_the_ring,
            ),
            "sharding": Tab(label=N_("DDP and FSDP"), show=sharding, question=ask_about_the_ring),
            "links": Tab(label=N_("Communication time"), show=links),
            "schedule": Tab(label=N_("Pipeline"), show=schedule, unseen=["data"]),
        },
        more={
            "ranks": Tab(label=N_("Ranks"), show=ranks),
            "ring": Tab(
                label=N_("All-reduce"),
                show=ring,
                with_inputs=False,
                choose=choose_ring,
                question=ask_about_the_ring,
            ),
            "code": Tab(label=N_("Programs"), show=programs, with_inputs=False, choose=choose_card),
        },
        snippet="parallel",
    ),
)
