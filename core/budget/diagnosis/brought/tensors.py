"""Checkpoints by the names, shapes and dtypes of their tensors: their bytes, and which model it is.

Of a safetensors file the header alone is read: eight bytes of its length, then JSON
(https://github.com/huggingface/safetensors). Every length is checked before anything is taken.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import prod
from typing import Any, Final, NamedTuple

from core.budget.catalogue.hf_config import read_config
from core.budget.diagnosis.brought.names import models_as_wide
from core.budget.diagnosis.brought.record import Brought, Setting
from core.budget.diagnosis.brought.texts import json_fields
from core.budget.item import Formula, Item, counted, total
from core.language import N_, _

MAX_HEADER: Final = 1 << 26
MAX_NUMBERS: Final = 1 << 50
MAX_LINES: Final = 200_000
BITS: Final = {
    "F64": 64, "F32": 32, "F16": 16, "BF16": 16, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8,
    "F4": 4, "I64": 64, "I32": 32, "I16": 16, "I8": 8, "U64": 64, "U32": 32, "U16": 16, "U8": 8,
    "BOOL": 8,
}  # fmt: skip
_TORCH: Final = {
    "float32": "F32", "float16": "F16", "half": "F16", "bfloat16": "BF16", "float64": "F64",
    "uint8": "U8", "int8": "I8", "int32": "I32", "int64": "I64", "bool": "BOOL",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}  # fmt: skip
_WIDE: Final = {"F32": "float32", "F16": "bfloat16", "BF16": "bfloat16", "MXFP4": "mxfp4"}
_CODES: Final = ("I", "U")
_STORED: Final = Formula("ceil(num_params * bits / 8)")
_NUMBERS: Final = Formula("num_params")
_FILE: Final = Formula("total_size")
_SOURCE: Final = N_("names, shapes and dtypes in the file's header")
_LAYER: Final = re.compile(r"(?:.*\.)?layers\.(\d{1,5})\.(.+)")
_LINE: Final = re.compile(r"\W*([A-Za-z_]\w*(?:\.\w+)+)\W.*?[\[(](\d[\d, ]*)[\])]")
_DTYPE: Final = re.compile(r"\b(?:torch\.)?(" + "|".join(_TORCH) + r")\b")
_ANY_CONTEXT: Final = 131_072  # no shape tells how long a text the model was made for
_MATRICES: Final = ("self_attn.q_proj", "self_attn.k_proj", "mlp.gate_proj")


class Tensor(NamedTuple):
    """A tensor of a checkpoint; `dtype` is a key of BITS, or "" where it is not printed."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return prod(self.shape)


def is_safetensors(content: bytes) -> bool:
    """Return whether a file begins like one: a length that is no text, then a brace."""
    return content[8:9] == b"{" and int.from_bytes(content[:8], "little") < 1 << 48


def read_safetensors(content: bytes) -> Brought:
    """Return what the header of a safetensors file says; its numbers may be missing.

    Raises:
        ValueError: If the header is cut off, too long, or its lengths contradict each other.
    """
    length = int.from_bytes(content[:8], "little")
    if length > min(MAX_HEADER, len(content) - 8):
        sentence = _("The header is said to have {length} bytes, of which {count} are here.")
        raise ValueError(sentence.format(length=f"{length:,}", count=f"{len(content) - 8:,}"))
    try:
        fields = json_fields(content[8 : 8 + length].decode("utf-8"))
        tensors = dict(_checked(fields))
    except UnicodeDecodeError as error:
        raise _torn() from error
    return brought_tensors("safetensors", tensors)


def _checked(fields: Mapping[str, Any]) -> Iterator[tuple[str, Tensor]]:
    for name, value in fields.items():
        if name == "__metadata__":
            continue
        match value:
            case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(a), int(b)]} if (
                dtype in BITS and len(shape) <= 8 and all(type(each) is int for each in shape)
            ):
                tensor = Tensor(tuple(shape), dtype)
                is_sound = min(shape, default=0) >= 0 and 0 <= a <= b < MAX_NUMBERS
                if is_sound and 8 * (b - a) == -(-tensor.size * BITS[dtype] // 8) * 8:
                    yield name, tensor
                    continue
        raise _torn()


def _torn() -> ValueError:
    return ValueError(_("The header is damaged: names, shapes and lengths do not fit together."))


def read_index(fields: Mapping[str, Any]) -> Brought:
    """Return what the index of a checkpoint in several files says.

    Raises:
        ValueError: If its names and sizes are none.
    """
    files, metadata = fields["weight_map"], fields.get("metadata")
    size = metadata.get("total_size") if isinstance(metadata, dict) else None
    if not isinstance(files, dict) or not (size is None or _is_size(size)):
        raise _torn()
    items = [counted("weights", _FILE, {"total_size": int(size)}, _SOURCE)] if size else []
    shards = len({str(each) for each in files.values()})
    text = _("{tensors} tensors in {files} files; shapes stand in the files or the config.json.")
    note = text.format(tensors=f"{len(files):,}", files=f"{shards:,}")
    return Brought(kind="index", items=tuple(items), notes=(note,))


def _is_size(value: object) -> bool:
    return isinstance(value, (int, float)) and 0 <= value < MAX_NUMBERS


def read_state_dict(text: str) -> Brought | None:
    """Return what printed names and shapes say; None if most lines are something else."""
    lines = [line[:400] for line in text.splitlines()[:MAX_LINES] if line.strip()]
    found = [match for line in lines if (match := _LINE.match(line))]
    if len(found) < max(2, len(lines) // 2):
        return None
    tensors = {}
    for match in found:
        shape = tuple(int(each) for each in match[2].split(",") if each.strip()[:15].isdigit())
        dtype = _DTYPE.search(match.string, match.end(1))
        tensor = Tensor(shape, _TORCH[dtype[1]] if dtype else "")
        if tensor.size < MAX_NUMBERS:
            tensors[match[1]] = tensor
    return brought_tensors("state_dict", tensors)


def brought_tensors(kind: str, tensors: Mapping[str, Tensor]) -> Brought:
    """Return what tensors say of a plan: bytes by dtype, parameters, and the model.

    Raises:
        ValueError: If there are none.
    """
    sizes: dict[str, int] = {}
    for tensor in tensors.values():
        sizes[tensor.dtype] = sizes.get(tensor.dtype, 0) + tensor.size
    if not sum(sizes.values()):
        raise _torn()
    stored = [
        counted(dtype, _STORED, {"num_params": size, "bits": BITS[dtype]}, _SOURCE)
        for dtype, size in sorted(sizes.items())
        if dtype
    ]
    numbers = sum(size for dtype, size in sizes.items() if dtype[:1] not in _CODES)
    config = json.dumps(found) if (found := config_from(tensors)) else ""
    keys = models_as_wide(read_config(config)) if config else ()
    return Brought(
        kind=kind, model=keys[-1] if keys else "", config="" if keys else config,
        settings=stored_as(sizes), notes=tuple(_notes(sizes, config, keys)),
        items=counted_tensors(stored, numbers, _SOURCE),
    )  # fmt: skip


def counted_tensors(stored: list[Item], num_params: int, source: str) -> tuple[Item, ...]:
    """Return the bytes by dtype under their sum, and the parameters; none of what is not told."""
    weights = [total("weights", stored, source=source)] if stored else []
    values = {"num_params": num_params}
    count = counted("parameters", _NUMBERS, values, source, unit="parameters")
    return (*weights, count) if num_params else (*weights,)


def stored_as(sizes: Mapping[str, int]) -> dict[str, Setting]:
    """Return in what the weights are stored, where nearly all are and the plan has it."""
    most = max(sizes, key=lambda dtype: sizes[dtype])
    is_nearly_all = sizes[most] * 10 >= 9 * sum(sizes.values())
    return {"weights": _WIDE[most]} if is_nearly_all and most in _WIDE else {}


def _notes(sizes: Mapping[str, int], config: str, keys: tuple[str, ...]) -> Iterator[str]:
    if any(dtype[:1] in _CODES for dtype in sizes):
        yield _("Whole numbers are codes of quantized weights: they are counted as bytes alone.")
    if len(keys) > 1:
        yield _("Built alike: {models}.").format(models=_(", ").join(keys))
    elif not config:
        yield _("These are not all tensors of a model like Llama: bring its config.json too.")
    elif not keys:
        yield _("The width of a head and the longest context stand in no shape: they are guessed.")


def config_from(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return a config.json for the tensors of a whole model like Llama; empty for any other."""
    layers: dict[int, dict[str, Tensor]] = {}
    others: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if match := _LAYER.fullmatch(name):
            layers.setdefault(int(match[1]), {})[match[2]] = tensor
        else:
            others[".".join(name.split(".")[-2:])] = tensor
    is_whole = {*layers} == {*range(len(layers))} and {"embed_tokens.weight", "norm.weight"} <= {
        *others
    }
    alike = all({**a} == {**b} for a, b in pairwise(layers.values()))
    first = layers.get(0, {})
    wide = {name: first.get(f"{name}.weight") for name in _MATRICES}
    shapes = [tensor.shape for tensor in wide.values() if tensor and tensor.dtype[:1] not in _CODES]
    if not (is_whole and alike and len(shapes) == 3 and all(len(each) == 2 for each in shapes)):
        return {}
    (queries, hidden), (keys, _hidden), (ffn, _same) = shapes
    return _config_of(first, others, (queries, keys, ffn, hidden, len(layers)))


def _config_of(
    first: Mapping[str, Tensor], others: Mapping[str, Tensor], widths: tuple[int, ...]
) -> dict[str, Any]:
    queries, keys, ffn, hidden, num_layers = widths
    normed = first.get("self_attn.q_norm.weight")
    head = normed.shape[0] if normed else 128 if not (queries % 128 or keys % 128) else 64
    if not head or queries % head or keys % head or not keys:
        return {}
    family = "qwen3" if normed else "qwen2" if "self_attn.q_proj.bias" in first else "llama"
    return {
        "model_type": family, "num_hidden_layers": num_layers, "hidden_size": hidden,
        "intermediate_size": ffn, "num_attention_heads": queries // head, "head_dim": head,
        "num_key_value_heads": keys // head, "vocab_size": others["embed_tokens.weight"].shape[0],
        "max_position_embeddings": _ANY_CONTEXT,
        "tie_word_embeddings": "lm_head.weight" not in others,
    }  # fmt: skip
