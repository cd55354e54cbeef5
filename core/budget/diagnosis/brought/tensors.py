"""Checkpoints by the names, shapes and dtypes of their tensors: their bytes, and which model it is.

Of a safetensors file the header alone is read: eight bytes of its length, then JSON
(https://github.com/huggingface/safetensors). Every length is checked before anything is taken.
"""

import json
import re
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, Final, NamedTuple

from core.budget.catalogue.hf_config import read_config
from core.budget.diagnosis.brought.names import models_as_wide
from core.budget.diagnosis.brought.record import Brought, Setting
from core.budget.diagnosis.brought.texts import json_fields
from core.budget.item import Formula, Item, counted, total
from core.budget.table import read_table
from core.language import N_, _

MAX_HEADER: Final = 1 << 26
MAX_NUMBERS: Final = 1 << 50
MAX_LINES: Final = 200_000
_TABLE: Final = read_table(__file__)
BITS: Final[Mapping[str, int]] = _TABLE["bits"]
"""Dtype of safetensors -> bits of a number."""
_TORCH: Final[Mapping[str, str]] = _TABLE["torch"]
_WIDE: Final = {"F32": "float32", "F16": "bfloat16", "BF16": "bfloat16", "MXFP4": "mxfp4"}
_CODES: Final = ("I", "U")
_STORED: Final = Formula("ceil(num_params * bits / 8)")
_NUMBERS: Final = Formula("num_params")
_FILE: Final = Formula("total_size")
_SOURCE: Final = N_("names, shapes and dtypes in the file's header")
_LAYER: Final = re.compile(r"(?:.*\.)?layers\.(\d{1,5})\.(.+)")
_LINE: Final = re.compile(r"\W*([A-Za-z_]\w*+(?:\.\w++)++)\W.*?[\[(](\d[\d, ]*+)[\])]")
_DTYPE: Final = re.compile(r"\b(?:torch\.)?(" + "|".join(_TORCH) + r")\b")
_ANY_CONTEXT: Final = 131_072  # no shape tells how long a text the model was made for
_SIZES: Final = (
    *("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "head_dim"),
    *("num_attention_heads", "num_key_value_heads", "max_position_embeddings"),
)
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
    fields = json_fields(content[8 : 8 + length].decode("utf-8", "replace"))
    return brought_tensors("safetensors", dict(_checked(fields)))


def _checked(fields: Mapping[str, Any]) -> Iterator[tuple[str, Tensor]]:
    for name, value in fields.items():
        match value:
            case _ if name == "__metadata__":
                continue
            case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(a), int(b)]} if (
                dtype in BITS and len(shape) <= 8 and all(type(each) is int for each in shape)
            ):
                tensor = Tensor(tuple(shape), dtype)
                size = -(-tensor.size * BITS[dtype] // 8)
                if min(shape, default=0) >= 0 <= a and b == a + size < MAX_NUMBERS:
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
    is_size = size is None or (isinstance(size, (int, float)) and 0 <= size < MAX_NUMBERS)
    if not isinstance(files, dict) or not is_size:
        raise _torn()
    items = [counted("weights", _FILE, {"total_size": int(size)}, _SOURCE)] if size else []
    shards = len({str(each) for each in files.values()})
    text = _("{tensors} tensors in {files} files; shapes stand in the files or the config.json.")
    note = text.format(tensors=f"{len(files):,}", files=f"{shards:,}")
    return Brought(kind="index", items=tuple(items), notes=(note,))


def read_state_dict(text: str) -> Brought | None:
    """Return what printed names and shapes say; None if most lines are something else."""
    lines = [line[:400] for line in text.splitlines()[:MAX_LINES] if line.strip()]
    found = [match for line in lines if (match := _LINE.match(line))]
    if len(found) < max(2, len(lines) // 2):
        return None
    tensors = {}
    for match in found:
        shape = tuple(int(each) for each in re.findall(r"\d+", match[2]))
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
    config = config_from(tensors)
    keys = models_as_wide(read_config(config)) if config else ()
    return Brought(
        kind=kind, model=keys[-1] if keys else "", config="" if keys else config,
        settings=stored_as(sizes) if config else {},  # an adapter tells none of its model
        notes=tuple(_notes(tensors, config, keys)),
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


def _notes(tensors: Mapping[str, Tensor], config: str, keys: tuple[str, ...]) -> Iterator[str]:
    if any(tensor.dtype[:1] in _CODES for tensor in tensors.values()):
        yield _("Whole numbers are codes of quantized weights: they are counted as bytes alone.")
    if len(keys) > 1:
        yield _("Built alike: {models}.").format(models=_(", ").join(keys))
    elif any(".lora_A." in name or ".lora_B." in name for name in tensors):
        yield _("These are the matrices of an adapter (LoRA), not of the model that it adapts.")
    elif not config:
        yield _("These are not all tensors of a model like Llama: bring its config.json too.")
    elif not keys:
        yield _("The width of a head and the longest context stand in no shape: they are guessed.")


def config_from(tensors: Mapping[str, Tensor]) -> str:
    """Return a config.json for the tensors of a whole model like Llama; "" for any other."""
    layers: dict[int, dict[str, Tensor]] = {}
    others: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if match := _LAYER.fullmatch(name):
            layers.setdefault(int(match[1]), {})[match[2]] = tensor
        else:
            others[".".join(name.split(".")[-2:])] = tensor
    table, first = others.get("embed_tokens.weight"), layers.get(0, {})
    used = [table, *(first.get(f"{name}.weight") for name in _MATRICES)]
    shapes = [each.shape for each in used if each and each.dtype[:1] not in _CODES]
    is_whole = {*layers} == {*range(len(layers))} and "norm.weight" in others
    alike = all(each == first for each in layers.values())
    if not (is_whole and alike and [len(each) for each in shapes] == [2] * 4):
        return ""
    (vocab, hidden), (queries, _in), (keys, _in), (ffn, _in) = shapes
    normed = first.get("self_attn.q_norm.weight")
    head = max(1, *normed.shape) if normed else 64 if queries % 128 or keys % 128 else 128
    family = "qwen3" if normed else "qwen2" if "self_attn.q_proj.bias" in first else "llama"
    sizes = (vocab, hidden, ffn, len(layers), head, queries // head, keys // head, _ANY_CONTEXT)
    config = dict(zip(_SIZES, sizes, strict=True))
    is_tied = "lm_head.weight" not in others
    return readable({"model_type": family, "tie_word_embeddings": is_tied, **config})


def readable(config: Mapping[str, Any]) -> str:
    """Return the text of a config.json; "" if it describes no model that can be."""
    text = json.dumps(config)
    try:
        read_config(text)
    except ValueError:
        return ""
    return text
