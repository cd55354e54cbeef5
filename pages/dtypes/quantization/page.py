"""What does a tensor lose in 8 or 4 bits?"""

from core.language import N_
from pages.dtypes.quantization.codes import codes, error
from pages.dtypes.quantization.inputs import ASK, choose_case
from pages.dtypes.quantization.model_bytes import choose_model, model_bytes
from pages.dtypes.quantization.question import ask_about_outliers
from pages.dtypes.quantization.surveys import groups, nf4, rules, standing
from pages.shared.tabbed_page import Page, Tab, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        tabs={
            "error": Tab(label=N_("Error"), show=error, question=ask_about_outliers),
            "codes": Tab(
                label=N_("Codes"), show=codes, question=ask_about_outliers, reading="codes"
            ),
            "standing": Tab(label=N_("Quality"), show=standing, question=ask_about_outliers),
            "groups": Tab(label=N_("Groups"), show=groups),
            "bytes": Tab(label=N_("Bytes"), show=model_bytes, choose=choose_model),
        },
        more={
            "rules": Tab(label=N_("Scale rules"), show=rules),
            "nf4": Tab(label=N_("NF4"), show=nf4),
        },
    ),
)
