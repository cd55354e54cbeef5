"""The plan that a recipe or a checkpoint's header describes, on top of one that is there."""

from collections.abc import Iterator
from dataclasses import replace

from core.budget.catalogue.hf_config import read_config
from core.budget.catalogue.models import MODELS
from core.budget.diagnosis.brought.record import Brought
from core.budget.planning.plan import Plan
from core.budget.planning.settings import RELEASED, with_settings
from core.language import _


def planned(told: Brought, base: Plan) -> Plan:
    """Return the plan with what was told; what the file leaves open stays as it is.

    Raises:
        ValueError: If the model or its split cannot be; the sentence says why.
    """
    if told.model:
        spec = MODELS[told.model]
    else:
        spec = read_config(told.config) if told.config else base.spec
    weights = {} if spec == base.spec else {"weights": RELEASED}
    return with_settings(replace(base, spec=spec), weights | dict(told.settings))


def taken_from(told: Brought, plan: Plan) -> Iterator[str]:
    """Yield what the file leaves open and the plan says: its model, its devices."""
    if not told.model and not told.config:
        text = _("The file names no model that is known here: {model} of the plan is taken.")
        if told.named:
            text = _("“{name}” is not known here: {model} of the plan is taken.")
        yield text.format(name=told.named, model=plan.spec.name)
    if "devices" not in told.settings:
        text = _("How many devices run it is not in the file: the plan's {count} are taken.")
        yield text.format(count=f"{plan.num_devices:,}")
