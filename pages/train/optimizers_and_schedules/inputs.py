"""What the page of optimizers asks for: a loss, a learning rate, who runs, and their settings."""

from dataclasses import dataclass
from typing import Final, cast

import streamlit as st

from core.language import N_, _
from core.train.optimizers.rule import NAMED, Decay, Rule, named_rule
from core.train.optimizers.surfaces import SURFACES, Surface
from pages.shared.inputs import Inputs

ASK: Final = Inputs("optim")
RATES: Final = (
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.08, 0.1, 0.15,
    0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 5.0, 10.0,
)  # fmt: skip
BETAS_1: Final = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99)
BETAS_2: Final = (0.9, 0.95, 0.99, 0.999, 0.9999)
DECAYS: Final = (0.0, 0.0001, 0.001, 0.01, 0.1)
# AdamW runs beside Adam; Muon orthogonalizes with torch, which a page that opens does not wait for.
NOT_AT_FIRST: Final = ("AdaGrad", "AdamW", "Muon")
MAX_STEPS: Final = 500
SWITCHES: Final = ("wd", "bias", "nesterov", "ortho")
_DECAYS: Final = {"none": N_("none"), "l2": "L2", "decoupled": N_("decoupled")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A race on a surface, the rules that run, and the switches of a rule that is composed."""

    surface: Surface
    rules: dict[str, Rule]
    num_steps: int
    lr: float
    beta1: float
    beta2: float
    weight_decay: float
    switches: Rule


def choose_case() -> Case:
    """Show the inputs and return the race."""
    titles = {key: row.title for key, row in SURFACES.items()}
    surface = ASK.selectbox("surface", _("Loss surface"), titles, default="bowl")
    lr = ASK.select_slider("lr", _("Learning rate"), RATES, default=0.05, labels=str)
    num_steps = ASK.slider("steps", _("Steps"), 1, MAX_STEPS, default=100, step=1)
    with st.popover(_("Optimizers"), icon=":material/groups:", key=ASK.key("who")):
        names = [
            name
            for name in NAMED
            if ASK.toggle(name.lower(), name, default=name not in NOT_AT_FIRST)
        ]
    with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("settings")):
        switches = _choose_switches()
        beta1 = ASK.select_slider("beta1", _("β1, or momentum"), BETAS_1, default=0.9)
        beta2 = ASK.select_slider("beta2", "β2", BETAS_2, default=0.999)
        decay = ASK.select_slider(
            "decay", _("Weight decay"), DECAYS, default=0.01,
            help=_("In Trajectories for AdamW and Muon; in Update rule for what you compose."),
        )  # fmt: skip
    rules = {name: named_rule(name, lr, beta1, beta2, decay) for name in names}
    return Case(
        surface=SURFACES[surface], rules=rules, num_steps=num_steps, lr=lr, beta1=beta1,
        beta2=beta2, weight_decay=decay, switches=switches,
    )  # fmt: skip


def _choose_switches() -> Rule:
    decay = ASK.segmented("wd", _("Weight decay is"), _DECAYS, default="decoupled")
    return Rule(
        lr=0, decay=cast("Decay", decay),
        bias_correction=ASK.toggle("bias", _("Bias correction"), default=True),
        nesterov=ASK.toggle("nesterov", "Nesterov", default=False),
        orthogonalize=ASK.toggle("ortho", _("Orthogonalize (Muon)"), default=False),
    )  # fmt: skip
