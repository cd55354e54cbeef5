"""A question about an error text, its answer found by the same search as the page's."""

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.diagnosis.out_of_memory import read_out_of_memory
from core.budget.diagnosis.sentences import what
from core.budget.diagnosis.suspects import find_suspects
from core.budget.recipe import TrainingRecipe
from core.language import _
from pages.plan.diagnose.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal

TEXT = "CUDA out of memory. Tried to allocate 388.00 MiB"
MODEL = "llama-2-7b"


def ask_what_was_asked_for() -> None:
    """Ask what 388.00 MiB of a 7B model in 16 bits are."""
    cluster = Cluster(device=DEVICES["a100-80gb"], num_devices=4)
    spec = MODELS[MODEL]
    found = find_suspects(read_out_of_memory(TEXT), spec, TrainingRecipe(), cluster)[0]
    count = f"{found.item.values['num_params']:,}"
    predict_then_reveal(
        ASK.key("unit"),
        _("{model} is trained with FSDP in 16 bits. What are 388.00 MiB?").format(model=spec.name),
        [
            Choice(what(found)[:1].upper() + what(found)[1:], None),
            Choice(
                _("The activations of one sequence"),
                _("Those grow with the sequence; 388 MiB come with every sequence length."),
            ),
            Choice(
                _("The CUDA context"),
                _("The driver takes that before torch asks for its first tensor."),
            ),
        ],
        _("{count} parameters of a layer × 2 bytes, rounded up to whole 2 MiB.").format(
            count=count
        ),
    )
