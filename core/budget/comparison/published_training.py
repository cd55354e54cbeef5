"""Our figures for published training memory: allocated, reserved, and what one layer keeps."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from core.budget.comparison.scenario import Scenario, named_scenario
from core.budget.formula import Formula
from core.budget.item import Item, item, total
from core.budget.parallel.share import whole
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.activations import activation_sizes, layer_activations
from core.budget.training.training_budget import OVERHEADS, RESERVE, training_budget
from core.language import N_

_RESERVED: Final = N_("reserved beyond allocated: 3 to 15 % in torchtitan's and litgpt's tables")
ONE_LAYER: Final = Formula("kept_by_all_layers / num_layers")
# What a technique takes away that no field of a recipe says -> the parts that are then not there.
WITHOUT: Final[Mapping[str, Collection[str]]] = {
    "gradients": {"gradients"},
    "kept": {"block inputs"},
}
SCALES: Final = Formula("one_scale_per_block - quantized_scales")
# The words of `also` in published.toml.
OWN_PARTS: Final = (
    N_("logits in bf16"),
    N_("products done again"),
    N_("torchtune's CEWithChunkedOutputLoss, compiled: all logits first, no fp32 copy"),
    N_("torchtitan: the model's own logits live on beside their fp32 copy"),
    N_("torchtitan's selective op AC keeps every second product only: not k, o, up"),
)
Inputs = Mapping[str, Any]


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
    reserve = item(
        N_("allocator reserve"),
        RESERVE,
        {"allocated": live.amount},
        unit="bytes",
        source=_RESERVED,
        kind="estimated",
        band=(1.0, 2.0),
    )
    return total(live.name, (*live.children, reserve), source=live.source)


def saved_per_layer(inputs: Inputs) -> Item:
    """Return the bytes that one layer keeps for its backward pass."""
    scenario = scenario_of(inputs)
    sizes = activation_sizes(scenario.spec, scenario.recipe, whole(scenario.spec))
    parts = layer_activations(scenario.spec, scenario.recipe, sizes)
    values = {
        "kept_by_all_layers": sum(part.amount for part in parts),
        "num_layers": scenario.spec.num_layers,
    }
    return item(N_("activations"), ONE_LAYER, values, unit="bytes", source=parts[0].source)


def scales_saved(inputs: Inputs) -> Item:
    """Return what quantizing the scales of NF4 weights saves."""
    twice = {**inputs["lora"], "base_format": "nf4_double_quant"}
    values = {
        "one_scale_per_block": allocated(inputs).amount,
        "quantized_scales": allocated({**inputs, "lora": twice}).amount,
    }
    source = N_("Dettmers et al. 2023, QLoRA, section 3: 8-bit scales of the scales")
    return item(N_("scales"), SCALES, values, unit="bytes", source=source)


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
    return item(part["name"], Formula(part["formula"]), values, unit="bytes", source=part["source"])
