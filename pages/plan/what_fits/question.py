"""Questions of the page; the answers come from the solver."""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.fits.jobs import Serving
from core.budget.fits.solve import group_needs, min_devices
from core.budget.planning import plan as planning
from core.budget.recipe import TrainingRecipe
from core.budget.serving.plan import ServingPlan
from core.language import _
from pages.plan.what_fits.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look

SERVED_BY: Final = (1, 2, 4, 8)
TRAINED_BY: Final = (8, 16, 32, 64)
_JOB: Final = Serving(ServingPlan(prompt_len=3584, output_len=512))
_TRAINING: Final = planning.Plan(
    spec=MODELS["llama-3.1-70b"],
    cluster=Cluster(device=DEVICES["h100-sxm"], num_devices=8, zero_stage=3),
    recipe=TrainingRecipe(
        batch_size=1, seq_len=8192, precision="mixed_bf16", step_kind="fused", checkpointing="full"
    ),
)


def ask_about_training() -> None:
    """Ask how many H100 train a 70B model."""
    found = planning.fewest_devices(_TRAINING).fits
    if found is None:
        raise AssertionError("a 70B model is trained on H100")
    counts = [planning.on_count(_TRAINING, number) for number in TRAINED_BY]
    _ask(
        "train",
        _(
            "Llama-3.1 70B is trained with FSDP, AdamW and full activation checkpointing, one "
            "sequence of 8,192 tokens on each device. How many H100 of 80 GB does it take?"
        ),
        {each.num_devices: each.need.amount for each in counts},
        found.num_devices,
        _TRAINING.cluster.device.memory_usable,
    )


def ask_about_70b() -> None:
    """Ask how many A100 serve a 70B model."""
    spec, device = MODELS["llama-2-70b"], DEVICES["a100-80gb"]
    needs = {number: need.amount for number, need in group_needs(spec, _JOB, SERVED_BY[-1])}
    _ask(
        "70b",
        _("How many A100 of 80 GB does it take to serve Llama-2 70B in bf16?"),
        {number: needs[number] for number in SERVED_BY},
        int(min_devices(spec, _JOB, device).amount),
        device.memory_usable,
    )


def _ask(key: str, text: str, needs: Mapping[int, float], fewest: int, capacity: float) -> None:
    choices = [
        Choice(f"{number}", None if number == fewest else _why(number, need, fewest))
        for number, need in needs.items()
    ]
    explanation = _("On {count} of them each holds {need} of {capacity}.").format(
        count=fewest,
        need=look().format_bytes(needs[fewest]),
        capacity=look().format_bytes(capacity),
    )
    predict_then_reveal(ASK.key(key), text, choices, explanation)


def _why(number: int, need: float, fewest: int) -> str:
    size = look().format_bytes(need)
    if number == 1:
        return _("One alone would have to hold {need}.").format(need=size)
    if number < fewest:
        return _("Each of {count} would have to hold {need}.").format(count=number, need=size)
    return _("They would do, but each then holds only {need}: fewer are enough.").format(need=size)
