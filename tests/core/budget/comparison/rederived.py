"""Our figure for each published one: what `quantity` names in published.toml."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from core.budget.by_hand.rules import flops_rule
from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.compute.chinchilla import machine_flops
from core.budget.item import Formula, Item, counted, item, total, weakest
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.serving.decode_speeds import with_measured_mbu
from core.budget.serving.kv_cache import kv_cache
from core.budget.serving.latency import decode_latency
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import user_speed
from core.budget.share import whole
from core.budget.training.activations import activation_sizes, layer_activations
from core.budget.training.duration import seconds_item
from core.budget.training.memory import OVERHEADS, allocator_reserve, training_budget
from core.budget.training.scenario import Scenario
from core.budget.weights.adapters import adapter_widths
from core.budget.weights.parameters import counts
from core.models.spec import ModelSpec
from tests.core.budget.comparison.published import PublishedFigure
from tests.core.budget.named import named_scenario

Inputs = Mapping[str, Any]
STORED: Final = Formula("(num_params + extra_params) * bytes_each")
IMPLIED: Final = Formula("6 * num_params * num_tokens / (device_hours * 3600 * flops_per_second)")
ADAPTERS: Final = Formula("rank * total_width")
ONE_LAYER: Final = Formula("kept_by_all_layers / num_layers")
SCALES: Final = Formula("one_scale_per_block - quantized_scales")
# What a technique takes away that no field of a recipe says -> the parts that are then not there.
WITHOUT: Final[Mapping[str, Collection[str]]] = {
    "gradients": {"gradients"},
    "kept": {"block inputs"},
}


def rederive(figure: PublishedFigure) -> Item | None:
    """Return our figure for a published one; None where there is none."""
    return REDERIVED[figure.quantity](figure.inputs) if figure.quantity else None


def stored_weights(inputs: Inputs) -> Item:
    """Return the bytes of a model's weights, all in one dtype."""
    spec = ModelSpec(**inputs["spec"])
    values = {
        "num_params": counts(spec).total,
        "extra_params": inputs["extra_params"],
        "bytes_each": inputs["bytes_each"],
    }
    source = "one stored number per parameter"
    return counted("weights", STORED, values, source)


def adapters(inputs: Inputs) -> Item:
    """Return LoRA's trainable parameters."""
    widths = adapter_widths(MODELS[inputs["model"]])
    values = {
        "rank": inputs["rank"],
        "total_width": sum(widths[target] for target in inputs["targets"]),
    }
    source = "Hu et al. 2021, LoRA: two thin matrices beside each adapted one"
    return counted("adapters", ADAPTERS, values, source, unit="parameters")


def decode_speed(inputs: Inputs) -> Item:
    """Return the tokens/s of one sequence on a group of devices."""
    plan = ServingPlan(**inputs["plan"])
    cluster = Cluster(device=DEVICES[inputs["device"]], num_devices=plan.tensor)
    return user_speed(decode_latency(MODELS[inputs["model"]], with_measured_mbu(plan), cluster))


def implied_mfu(inputs: Inputs) -> Item:
    """Return the MFU that the published device hours of a run come to, all its stages counted."""
    count = counts(MODELS[inputs["model"]])
    values = {
        "num_params": count.active,
        "num_tokens": inputs["num_tokens"],
        "device_hours": inputs["device_hours"],
        "flops_per_second": inputs["flops_per_second"],
    }
    source = "6 FLOPs for each parameter and token; Kaplan et al. 2020, section 2.1"
    return item("MFU", IMPLIED, values, unit="1", kind="claimed", source=source)


def scenario_of(inputs: Inputs) -> Scenario:
    """Return the setting that a row of published.toml describes."""
    adapters = inputs.get("lora")
    lora = LoRA(**{**adapters, "targets": tuple(adapters["targets"])}) if adapters else None
    recipe = TrainingRecipe(**inputs["recipe"], lora=lora)
    return named_scenario(inputs["model"], inputs["device"], recipe, inputs.get("layout"))


def allocated(inputs: Inputs) -> Item:
    """Return the bytes of live tensors on the most loaded device.

    `inputs` may take parts away (`without`, words of WITHOUT) and put parts into named moments
    (`also`), where the software that was measured does what no field of a recipe says.
    """
    scenario = scenario_of(inputs)
    tree = training_budget(scenario.spec, scenario.recipe, scenario.cluster).largest
    gone = {name for word in inputs.get("without", ()) for name in WITHOUT[word]}
    for part in inputs.get("also", ()):
        tree = _put_in(tree, part["moments"], _own_part(part, scenario))
    return without(tree, {*OVERHEADS, *gone})


def reserved(inputs: Inputs) -> Item:
    """Return the bytes that the allocator reserves there."""
    live = allocated(inputs)
    return total(live.name, (*live.children, allocator_reserve(live.amount)), source=live.source)


def saved_per_layer(inputs: Inputs) -> Item:
    """Return the bytes that one layer keeps for its backward pass."""
    scenario = scenario_of(inputs)
    sizes = activation_sizes(scenario.spec, scenario.recipe, whole(scenario.spec))
    parts = layer_activations(scenario.spec, scenario.recipe, sizes)
    kind = weakest(part.kind for part in parts)
    values = {
        "kept_by_all_layers": sum(part.amount for part in parts),
        "num_layers": scenario.spec.num_layers,
    }
    return item("activations", ONE_LAYER, values, unit="bytes", kind=kind, source=parts[0].source)


def scales_saved(inputs: Inputs) -> Item:
    """Return what quantizing the scales of NF4 weights saves."""
    twice = {**inputs["lora"], "base_format": "nf4_double_quant"}
    values = {
        "one_scale_per_block": allocated(inputs).amount,
        "quantized_scales": allocated({**inputs, "lora": twice}).amount,
    }
    source = "Dettmers et al. 2023, QLoRA, section 3: 8-bit scales of the scales"
    return counted("scales", SCALES, values, source)


REDERIVED: Final[Mapping[str, Callable[[Inputs], Item]]] = {
    "stored_weights": stored_weights,
    "adapters": adapters,
    "allocated": allocated,
    "reserved": reserved,
    "saved_per_layer": saved_per_layer,
    "scales_saved": scales_saved,
    "kv_cache": lambda inputs: kv_cache(MODELS[inputs["model"]], inputs["context"]),
    "decode_speed": decode_speed,
    "six_nd": lambda inputs: flops_rule(**inputs),
    "rule_seconds": lambda inputs: seconds_item(**inputs),
    "peak_flops": lambda inputs: machine_flops(**inputs),
    "implied_mfu": implied_mfu,
}


def without(tree: Item, names: Collection[str]) -> Item:
    """Return a tree without the parts of these names, added up (or compared) again.

    A part that would lose everything is left out too.
    """
    if not tree.children:
        return tree
    kept = [without(part, names) for part in tree.children if _remains(part, names)]
    return total(tree.name, kept, source=tree.source, combine=tree.combine)


def _remains(part: Item, names: Collection[str]) -> bool:
    below = part.children
    return part.name not in names and (not below or any(_remains(each, names) for each in below))


def _put_in(tree: Item, moments: Collection[str], part: Item) -> Item:
    """Return the tree with a part added to each moment of these names."""
    if not tree.children:
        return tree
    parts = [_put_in(each, moments, part) for each in tree.children]
    if tree.name in moments:
        parts.append(part)
    return total(tree.name, parts, source=tree.source, combine=tree.combine)


def _own_part(part: Inputs, scenario: Scenario) -> Item:
    spec = scenario.spec
    values = {
        "num_tokens": scenario.recipe.num_tokens,
        "loss_chunks": scenario.recipe.loss_chunks,
        "num_layers": spec.num_layers,
        "hidden_dim": spec.hidden_dim,
        "kv_dim": spec.num_kv_heads * spec.head_dim,
        "ffn_dim": spec.ffn_dim,
        "vocab_size": spec.vocab_size,
    }
    return counted(part["name"], Formula(part["formula"]), values, part["source"])
