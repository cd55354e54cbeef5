"""What does each device hold, and what must it send?"""

import streamlit as st

from core.language import _
from pages.budget.parallelism.inputs import Case, choose_case, note_lengths
from pages.budget.parallelism.question import ask_about_the_ring
from pages.budget.parallelism.ring import ring_snippet
from pages.budget.parallelism.tabs import ALONE, CSS, NO_INPUTS, PICTURES, choose_tab
from pages.shared.header import headline, page_header
from pages.shared.prose import prose
from pages.shared.snippets import show_code

CODE = """
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.parallel.communication import communication, exposed_seconds
from core.budget.catalogue.devices import DEVICES, custom_device
from core.budget.catalogue.hf_config import read_config
from core.budget.recipe import TrainingRecipe
from core.budget.training.memory import training_budget
from core.units import format_bytes, format_seconds

spec = {model}
recipe = TrainingRecipe(
    batch_size={recipe.batch_size},
    seq_len={recipe.seq_len},
    accumulation={recipe.accumulation},
    precision="{recipe.precision}",
    checkpointing="{recipe.checkpointing}",
    step_kind="{recipe.step_kind}",
)
cluster = Cluster(
    device={device},
    num_devices={cluster.num_devices},
    tensor={cluster.tensor},
    sequence_parallel={cluster.sequence_parallel},
    pipeline={cluster.pipeline},
    zero_stage={cluster.zero_stage},
    expert={cluster.expert},
    devices_per_node={cluster.devices_per_node},
    network={cluster.network},
    overlap={cluster.overlap},
)
budget = training_budget(spec, recipe, cluster)
for stage in budget.stages:
    print(stage.name, format_bytes(stage.amount))
print("sent", format_bytes(communication(spec, recipe, cluster).amount))
print("on links", format_seconds(exposed_seconds(spec, recipe, cluster).amount))
"""


def snippet(case: Case) -> str:
    """Return Python that prints what each stage holds and what is sent."""
    return CODE.format(
        model=case.model.code, device=case.device.code, recipe=case.recipe, cluster=case.cluster
    )


def choose() -> tuple[Case | None, str]:
    """Show the inputs; return what is chosen, or None and the sentence why it cannot be."""
    with st.container(key="parallel_inputs", horizontal=True, vertical_alignment="bottom"):
        try:
            return choose_case(), ""
        except ValueError as error:
            return None, str(error)


def show_picture(tab: str, case: Case | None, problem: str) -> str:
    """Show the open picture, or why the choices cannot go together; return its code."""
    if tab in ALONE:
        st.html(NO_INPUTS)
        ALONE[tab]()
        return ring_snippet()
    if case is not None:
        note_lengths(case)
        try:
            PICTURES[tab](case)
        except ValueError as error:
            problem = str(error)
        else:
            return snippet(case)
    headline(_("These choices cannot go together."))
    st.info(problem)
    return ""


page_header(__doc__)
st.html(CSS)
chosen, reason = choose()
program = show_picture(choose_tab(), chosen, reason)
question, code = st.columns(2)
with question:
    ask_about_the_ring()
if program:
    with code:
        show_code("parallel", program)
prose(__file__, "reading")
