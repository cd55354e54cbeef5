"""The plan that a recipe or a checkpoint's header describes, on top of one that is there."""

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import Final

from core.budget.catalogue.hf_config import read_config
from core.budget.catalogue.models import MODELS
from core.budget.diagnosis.brought.record import Brought
from core.budget.planning.plan import Plan
from core.budget.planning.settings import RELEASED, settings_of, with_settings
from core.language import _

_SPLITS: Final = ("tensor", "stages", "context")
# Work -> settings that decide what it needs, beside the devices.
_SIZES: Final = ("length", "batch", "step", "optimizer", "precision", "checkpointing")
_OPEN: Final = {"train": _SIZES, "serve": ("context_length",)}


def planned(told: Brought, base: Plan) -> Plan:
    """Return the plan with what was told; what the file leaves open stays as it is.

    Raises:
        ValueError: If the model or its split cannot be; the sentence says why.
    """
    if told.model:
        spec = MODELS[told.model]
    else:
        spec = read_config(told.config) if told.config else base.spec
    said = ({} if spec == base.spec else {"weights": RELEASED}) | dict(told.settings)
    ranks = prod(int(said.get(name, 1)) for name in _SPLITS)
    if "devices" not in said and base.num_devices % ranks:
        said["devices"] = ranks
    return with_settings(replace(base, spec=spec), said)


def taken_from(told: Brought, plan: Plan) -> Iterator[str]:
    """Yield what the file leaves open and the plan says: its model, its devices, its sizes."""
    if not told.model and not told.config:
        text = _("The file names no model that is known here: {model} of the plan is taken.")
        if told.named:
            text = _("“{name}” is not known here: {model} of the plan is taken.")
        yield text.format(name=told.named, model=plan.spec.name)
    settings = settings_of(plan)
    names = ("work", "device", "devices", *_OPEN[str(settings["work"])])
    missing = {name: settings.get(name) for name in names if name not in told.settings}
    said = [f"{name} = {value}" for name, value in missing.items() if value is not None]
    text = _("Not in the file, and so as the plan has it: {fields}.")
    if said:
        yield text.format(fields=_("; ").join(said))
