"""What happens inside a GPT between your text and its next token?"""

from functools import partial

from core.language import N_
from pages.models.inside_gpt.attention import attention
from pages.models.inside_gpt.depth import depth
from pages.models.inside_gpt.generation import choose_drawn, generation
from pages.models.inside_gpt.inputs import ASK, choose_case
from pages.models.inside_gpt.question import (
    ask_for_the_costly_stage,
    ask_for_the_first_chance,
    ask_for_the_first_row,
)
from pages.models.inside_gpt.stages import choose_stage, stages
from pages.models.inside_gpt.tokens import choose_view, tokens
from pages.shared.tabbed_page import Page, Tab, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs

_ONE_PASS = ("layer", "head", "with")  # inputs of a single pass, which these tabs do not show

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        snippet="inside",
        choose=choose_case,
        refusal=partial(refused_inputs, N_("This cannot be shown.")),
        question=ask_for_the_first_chance,
        tabs={
            "depth": Tab(label=N_("From text to token"), show=depth),
            "tokens": Tab(
                label=N_("Tokens and embeddings"),
                show=tokens,
                choose=choose_view,
                unseen=_ONE_PASS,
                reading="tokens",
            ),
            "stages": Tab(
                label=N_("Stage by stage"),
                show=stages,
                choose=choose_stage,
                unseen=("with",),
                question=ask_for_the_costly_stage,
                reading="stages",
            ),
            "attention": Tab(
                label=N_("Attention"),
                show=attention,
                unseen=("with",),
                question=ask_for_the_first_row,
                reading="attention",
            ),
            "generation": Tab(
                label=N_("Generation"),
                show=generation,
                choose=choose_drawn,
                unseen=_ONE_PASS,
                reading="generation",
            ),
        },
    ),
)
