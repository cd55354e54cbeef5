"""What an engineer brings, recognised by its content and read: nothing of it is ever run."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from core.budget.catalogue.hf_config import MAX_CHARS, read_config
from core.budget.diagnosis.brought.gguf_header import MAGIC, read_gguf
from core.budget.diagnosis.brought.names import same_model
from core.budget.diagnosis.brought.recipes import kind_of_recipe, read_recipe, written_name
from core.budget.diagnosis.brought.record import Brought
from core.budget.diagnosis.brought.tensors import (
    is_safetensors,
    read_index,
    read_safetensors,
    read_state_dict,
)
from core.budget.diagnosis.brought.texts import MAX_RECIPE, flat, json_fields, recipe_fields
from core.budget.weights.config_notes import config_notes
from core.language import _
from core.units import MIB

MAX_BYTES: Final = 16 * MIB
_CODE: Final = (b"PK\x03\x04", *(bytes([0x80, protocol]) for protocol in range(2, 6)))
_JSON: Final = re.compile(r'\s*\{\s*["}]')  # a printed dict of Python begins with another mark
_FENCED: Final = re.compile(r"^```\w*[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_MAGIC: Final = re.compile(r"\A%%\w+[^\n]*\n")  # of a cell of a notebook
_MOST_FENCED: Final = 10
_FILE: Final = re.compile(r"(?<![^\s=/\"'])[\w.-]{1,80}\.(?:ya?ml|toml)(?![^\s\"'])")
_CONFIG: Final = ("model_type", "architectures", "hidden_size", "n_embd", "num_hidden_layers")


def read_brought(content: bytes, name: str = "") -> Brought:
    """Return what a file or a pasted text says of the plan.

    Args:
        content: The bytes of the file; of safetensors and GGUF its beginning is enough.
        name: The file's name: a hint for sentences, never what decides.

    Raises:
        ValueError: If it is nothing that is read here, torn, too long or too deep.
    """
    if content.startswith(MAGIC):
        return read_gguf(content)
    if is_safetensors(content):
        return read_safetensors(content)
    if content.startswith(_CODE):
        raise ValueError(
            _(
                "{name} is a pickle, and a pickle can run code: it was not opened. Save its "
                "state_dict as safetensors, or paste the printed names and shapes."
            ).format(name=_file(name))
        )
    if len(content) > MAX_BYTES:
        sentence = _("{name} has more than {most} MiB: bring its first MiB, or the recipe alone.")
        raise ValueError(sentence.format(name=_file(name), most=MAX_BYTES // MIB))
    return _read_text(_decoded(content, name), name)


def _read_text(text: str, name: str) -> Brought:
    blocks: list[Brought] = []
    for block in islice(_FENCED.finditer(text), _MOST_FENCED):
        with suppress(ValueError):
            blocks.append(_read_text(block[1], name))
    if blocks:  # of several the first that names a model
        best = max(blocks, key=lambda each: bool(each.model or each.config))
        left = _("Of {count} blocks of the text one alone is read: bring the others by themselves.")
        notes = (*best.notes, *([left.format(count=len(blocks))] if blocks[1:] else ()))
        return replace(best, notes=notes)
    if _JSON.match(text):
        return _read_json(text, name)
    if printed := read_state_dict(text):
        return printed
    _check_length(text, name, MAX_RECIPE)
    found = recipe_fields(text)
    kind = kind_of_recipe(dict(flat(found))) if found else ""
    if found is None or not kind:
        if file := _FILE.search(text):
            sentence = _("The recipe itself is in {file}, which was not brought: bring that file.")
            raise ValueError(sentence.format(file=file[0]))
        raise _unknown(name)
    return read_recipe(kind, found)


def _read_json(text: str, name: str) -> Brought:
    found = json_fields(text)
    if "weight_map" in found:
        return read_index(found)
    _check_length(text, name, MAX_CHARS)
    is_log = "log_history" in found  # of the Trainer's state, which holds its settings too
    if (kind := kind_of_recipe(dict(flat(found)))) and not is_log:
        return read_recipe(kind, found)
    if any(field in found for field in _CONFIG):
        return _read_config(text, found)
    raise _unknown(name)


def _check_length(text: str, name: str, most: int) -> None:
    if len(text) > most:
        sentence = _("{name} has {count} characters; a recipe has at most {most}.")
        values = {"count": f"{len(text):,}", "most": f"{most:,}"}
        raise ValueError(sentence.format(name=_file(name), **values))


def _read_config(text: str, found: Mapping[str, Any]) -> Brought:
    spec = read_config(text)
    is_known = spec.quantized or not found.get("quantization_config")
    key = same_model(spec) if is_known else ""
    return Brought(
        kind="config", model=key, config="" if key else text, named=_name_in(found),
        ignored=(*map(written_name, spec.not_counted),), notes=() if key else config_notes(text),
    )  # fmt: skip


def _name_in(found: Mapping[str, Any]) -> str:
    return written_name(str(found.get("_name_or_path") or found.get("model_type") or ""))


def _decoded(content: bytes, name: str) -> str:
    try:
        return _MAGIC.sub("", content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _unknown(name) from error


def _file(name: str) -> str:
    plain = "".join(mark for mark in name if mark.isalnum() or mark in " ._-")
    return plain[:60] or _("This")


def _unknown(name: str) -> ValueError:
    return ValueError(
        _(
            "{name} is nothing that is read here: bring an out-of-memory error, lines of a log, a "
            "config.json, a safetensors or GGUF file, printed shapes, a trace of torch.profiler, "
            "or a recipe of the Trainer, DeepSpeed, Accelerate, axolotl, LLaMA-Factory, "
            "torchtitan, torchtune, Megatron-LM, vLLM or SGLang."
        ).format(name=_file(name))
    )
