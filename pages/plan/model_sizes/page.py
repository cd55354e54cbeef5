"""How many bytes do the weights of a model take?"""

from core.language import N_
from pages.plan.model_sizes.gguf import gguf
from pages.plan.model_sizes.inputs import ASK, choose_case
from pages.plan.model_sizes.one_model import one_model, two_models
from pages.plan.model_sizes.parts import parts, parts_side
from pages.plan.model_sizes.question import ask_what_does_not_fit
from pages.plan.model_sizes.table import choose_table, table
from pages.plan.model_sizes.tensor import choose_tensor, tensor
from pages.shared.beside import beside
from pages.shared.tabbed_page import Page, Tab, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        tabs={
            "model": Tab(
                label=N_("One model"),
                show=one_model,
                question=ask_what_does_not_fit,
                compare=two_models,
            ),
            "gguf": Tab(label=N_("GGUF files"), show=gguf, unseen=["format", "formats"]),
            "table": Tab(
                label=N_("7B, 13B, 70B"), show=table, with_inputs=False, choose=choose_table
            ),
            "parts": Tab(
                label=N_("Breakdown"),
                show=parts,
                unseen=["format", "formats"],
                compare=beside(parts_side),
            ),
            "tensor": Tab(
                label=N_("One tensor"), show=tensor, with_inputs=False, choose=choose_tensor
            ),
        },
    ),
)
