"""KEY=VALUE of the command line, turned into a plan, a recipe and the devices."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from math import lcm
from pathlib import Path
from typing import Any, Final

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.hf_config import read_config
from core.budget.catalogue.models import MODELS
from core.budget.check import check_choice
from core.budget.cluster import Cluster
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.serving.plan import ServingPlan
from core.budget.weights.config_notes import config_notes
from core.language import _
from core.models.spec import ModelSpec

_RECIPE: Final = frozenset(field.name for field in fields(TrainingRecipe)) - {"lora"}
_PLAN: Final = frozenset(field.name for field in fields(ServingPlan))
_CLUSTER: Final = frozenset(field.name for field in fields(Cluster)) - {"device"}
_LORA: Final = ("lora_rank", "lora_targets", "lora_base")
NAMES: Final[Mapping[str, frozenset[str]]] = {
    "train": _RECIPE | _CLUSTER | {"device", *_LORA},
    "serve": _PLAN | {"device"},
    "fits": _RECIPE | _PLAN - {"tensor", "compute"} | set(_LORA),
}
"""Command -> the settings that it heeds."""
_ON: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What a command works with.

    Attributes:
        told: Names of fields that the command line set.
    """

    spec: ModelSpec
    plan: ServingPlan
    recipe: TrainingRecipe
    cluster: Cluster
    told: frozenset[str] = frozenset()


def find_model(name: str) -> ModelSpec:
    """Return a model of the catalogue, or the one that a config.json describes.

    Raises:
        ValueError: If there is none, or the file cannot be read.
    """
    if name.endswith(".json"):
        return read_config(_text(Path(name)))
    check_choice("model", name, tuple(MODELS))
    return MODELS[name]


def model_notes(name: str) -> tuple[str, ...]:
    """Return what must be known of a config.json beside its numbers; nothing of a known model.

    Raises:
        ValueError: If the file cannot be read.
    """
    return config_notes(_text(Path(name))) if name.endswith(".json") else ()


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(_("{file} cannot be read: {reason}", file=file, reason=error)) from error


def read_settings(model: str, texts: Iterable[str], command: str = "") -> Settings:
    """Return everything that the command line says; what it leaves open has its default.

    Weights are as the model's makers publish them.

    Besides the fields of plan, recipe and cluster there are `device` (a key of DEVICES),
    `lora_rank`, `lora_targets` ("q,v") and `lora_base`. `tensor` splits serving and training. Of
    the same key the last text counts; what `command` would not heed is refused.

    Raises:
        ValueError: If a name is unknown or a value cannot be; the sentence says what can.
    """
    given = dict(_pair(text) for text in texts)
    known = NAMES[command] if command else frozenset[str]().union(*NAMES.values())
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(
            _("{names} is no setting of {command}; the settings are {known}.").format(
                names=_(", ").join(unknown),
                command=command or _("a budget"),
                known=_(", ").join(sorted(known)),
            )
        )
    device = given.pop("device", "h100-sxm")
    check_choice("device", device, tuple(DEVICES))
    lora = _lora({name: given.pop(name) for name in _LORA if name in given})
    cluster = Cluster(device=DEVICES[device], num_devices=_whole(given))
    spec = find_model(model)
    plan = ServingPlan(weight_format=spec.quantized) if spec.quantized else ServingPlan()
    return Settings(
        spec=spec,
        plan=_changed(plan, given, _PLAN),
        recipe=replace(_changed(TrainingRecipe(), given, _RECIPE), lora=lora),
        cluster=_changed(cluster, given, _CLUSTER),
        told=frozenset(given),
    )


def _whole(given: Mapping[str, str]) -> int:
    """Return the number of devices: as given, else as few as the split needs."""
    if "num_devices" in given:
        return int(_typed("num_devices", given["num_devices"], 1))
    sizes = {
        name: max(1, int(_typed(name, given.get(name, "1"), 1)))
        for name in ("tensor", "pipeline", "context", "expert")
    }
    experts = lcm(sizes["context"], sizes["expert"])  # context ranks can be expert ranks, too
    return sizes["tensor"] * sizes["pipeline"] * experts


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ValueError(
            _("{text} is no setting; write KEY=VALUE, such as batch_size=4.", text=repr(text))
        )
    return key.strip(), value.strip()


def _lora(given: Mapping[str, str]) -> LoRA | None:
    if not given:
        return None
    found = LoRA()
    if "lora_rank" in given:
        found = replace(found, rank=int(_typed("lora_rank", given["lora_rank"], 1)))
    if "lora_targets" in given:
        found = replace(found, targets=tuple(given["lora_targets"].split(",")))
    return replace(found, base_format=given.get("lora_base", found.base_format))


def _changed(thing: Any, given: Mapping[str, str], names: frozenset[str]) -> Any:  # noqa: ANN401
    own = {
        name: _typed(name, value, getattr(thing, name))
        for name, value in given.items()
        if name in names
    }
    return replace(thing, **own)


def _typed(name: str, value: str, default: object) -> Any:  # noqa: ANN401
    if isinstance(default, bool):
        check_choice(name, value.lower(), tuple(_ON))
        return _ON[value.lower()]
    if isinstance(default, str):
        return value
    is_whole = isinstance(default, int)
    try:
        return int(value) if is_whole else float(value)
    except ValueError as error:
        wanted = _("a whole number") if is_whole else _("a number")
        raise ValueError(
            _("{name} is {value}; it must be {wanted}.").format(
                name=name, value=repr(value), wanted=wanted
            )
        ) from error
