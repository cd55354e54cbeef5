"""Bytes of weights in AWQ and GPTQ files, as the quantization_config of a config.json says.

A linear layer keeps codes packed into int32, for each group of inputs a float16 scale and a packed
zero point, which is stored for symmetric codes too; GPTQ also keeps the group of each input as an
int32, in their order or not (desc_act). Embeddings, head, norms and biases stay in 16 bits.
Sources: transformers, GPTQConfig and AwqConfig; AutoGPTQ, QuantLinear; AutoAWQ, WQLinear_GEMM.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from core.budget.catalogue.hf_config import language_part
from core.budget.catalogue.hf_fields import shown
from core.budget.item import Formula, Item, as_guessed, counted, total
from core.budget.weights.parameters import counts
from core.language import N_, _
from core.models.spec import ModelSpec

CODES: Final = Formula("num_params * bits // 8")
SCALES: Final = Formula("num_groups * 2")
ZEROS: Final = Formula("num_groups * bits // 8")
ORDER: Final = Formula("num_layers * num_inputs * 4")
REST: Final = Formula("num_params * 2")
_SOURCE: Final = N_("the layout of AutoGPTQ and AutoAWQ, as quantization_config says")
_BITS: Final = {"gptq": (2, 3, 4, 8), "awq": (4,)}
_DEFAULT_GROUP: Final = 128  # of both, where the file says nothing


@dataclass(frozen=True, kw_only=True, slots=True)
class Packed:
    """How the matrices of a file are stored.

    Attributes:
        group_size: Inputs that share a scale; -1: all of them.
    """

    method: str
    bits: int
    group_size: int

    @property
    def name(self) -> str:
        """What stands beside its bar: "awq 4-bit, 128"."""
        group = "" if self.group_size < 0 else f", {self.group_size}"
        return f"{self.method} {self.bits}-bit{group}"


def read_packed(text: str) -> Packed | None:
    """Return how the text of a config.json says that its weights are stored.

    None where it names neither AWQ nor GPTQ.

    Raises:
        ValueError: If a field cannot be, or layers are kept wide that are counted as packed.
    """
    stored = language_part(json.loads(text)).get("quantization_config")
    if not isinstance(stored, dict) or stored.get("quant_method") not in _BITS:
        return None
    method = str(stored["quant_method"])
    bits = _either(stored, ("bits", "w_bit"), 4 if method == "awq" else None)
    group = _either(stored, ("group_size", "q_group_size"), _DEFAULT_GROUP)
    _check("bits", bits, bits in _BITS[method], _(", ").join(map(str, _BITS[method])))
    _check("group_size", group, group == -1 or group >= 1, _("-1, 1 or more"))
    _check_wide(stored)
    return Packed(method=method, bits=bits, group_size=group)


def packed_weights(spec: ModelSpec, packed: Packed) -> Item:
    """Return the bytes of a dense Llama-like model's weights, part by part.

    Raises:
        ValueError: If the model has experts, latent attention or a feed-forward without a gate.
    """
    if spec.mixture or spec.latent or not spec.gated or not spec.is_plain:
        sentence = _("{model} is not built like Llama: its packed matrices are not counted here.")
        raise ValueError(sentence.format(model=spec.name))
    found, linears = counts(spec), _linears(spec)
    groups = spec.num_layers * sum(_groups(rows, packed) * columns for rows, columns in linears)
    inputs = {"num_layers": spec.num_layers, "num_inputs": sum(rows for rows, _out in linears)}
    parts = [
        _part("codes", CODES, {"num_params": found.matrices, "bits": packed.bits}),
        _part("scales", SCALES, {"num_groups": groups}),
        _part("zero points", ZEROS, {"num_groups": groups, "bits": packed.bits}),
        *([_part("groups of the inputs", ORDER, inputs)] if packed.method == "gptq" else []),
        _part("the rest", REST, {"num_params": found.total - found.matrices}),
    ]
    return as_guessed(total("weights", parts, source=_SOURCE), spec)


def _linears(spec: ModelSpec) -> list[tuple[int, int]]:
    queries, values = spec.num_heads * spec.head_dim, spec.num_kv_heads * spec.head_dim
    hidden, ffn = spec.hidden_dim, spec.ffn_dim
    attention = [(hidden, queries), (hidden, values), (hidden, values), (queries, hidden)]
    return [*attention, (hidden, ffn), (hidden, ffn), (ffn, hidden)]


def _groups(num_inputs: int, packed: Packed) -> int:
    return 1 if packed.group_size < 0 else -(-num_inputs // packed.group_size)


def _part(name: str, formula: Formula, values: Mapping[str, int]) -> Item:
    return counted(name, formula, values, _SOURCE)


def _either(stored: Mapping[str, Any], names: tuple[str, str], default: int | None) -> int:
    value = next((stored[name] for name in names if stored.get(name) is not None), default)
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    _check(names[0], value, is_whole, _("a whole number"))
    assert isinstance(value, int)  # noqa: S101  just checked
    return value


def _check(name: str, value: object, is_allowed: bool, allowed: str) -> None:
    if not is_allowed:
        sentence = _("{name} in quantization_config is {value}; use {allowed}.")
        raise ValueError(sentence.format(name=name, value=shown(value), allowed=allowed))


def _check_wide(stored: Mapping[str, Any]) -> None:
    """Refuse a file whose layers are packed in part, or whose head is packed too."""
    wide = stored.get("modules_to_not_convert")
    if wide and wide != ["lm_head"]:
        sentence = _("{layers} stay wide in these files: their bytes are not counted here.")
        raise ValueError(sentence.format(layers=shown(wide)))
    if stored.get("lm_head"):
        raise ValueError(_("The head is packed too in these files: that is not counted here."))
