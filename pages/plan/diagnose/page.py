"""What does this error, recipe or log say?"""

from core.budget.diagnosis.out_of_memory import UntoldRequestError
from core.budget.diagnosis.recognise import UnknownError
from core.language import N_
from pages.plan.diagnose import door, snapshot
from pages.plan.diagnose.inputs import ASK, choose_case
from pages.plan.diagnose.question import ask_what_was_asked_for
from pages.shared.plan.verdict import plan_line, refusal
from pages.shared.tabbed_page import Page, Shown, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs


def refuse_text_or_plan(problem: ValueError) -> Shown:
    if isinstance(problem, UntoldRequestError):
        return refused_inputs(
            N_("This text does not say which request ran out of memory."), problem
        )
    if isinstance(problem, UnknownError):
        return refused_inputs(N_("This was not recognised."), problem)
    return refusal(problem)


tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        line=lambda case: plan_line(case.chosen, "train"),
        tabs={"memory": door.TAB, "snapshot": snapshot.TAB},
        question=ask_what_was_asked_for,
        refusal=refuse_text_or_plan,
        snippet="suspect",
    ),
)
