"""The header of a GGUF file: its sizes, and its tensors by type.

The beginning of the file is enough (the `gguf` package wants all of it), and every count and length
is held against what is there before it is followed.
"""

import struct
from collections.abc import Mapping
from math import prod
from typing import Any, Final, cast

from core.budget.catalogue.hf_config import read_config
from core.budget.diagnosis.brought.names import model_named, models_as_wide, same_model
from core.budget.diagnosis.brought.recipes import written_name
from core.budget.diagnosis.brought.record import Brought
from core.budget.diagnosis.brought.tensors import MAX_NUMBERS, counted_tensors, readable, stored_as
from core.budget.item import Formula, Item, counted
from core.budget.table import read_table
from core.language import N_, _

MAGIC: Final = b"GGUF"
MAX_COUNT: Final = 100_000  # of fields, and of tensors
_TABLE: Final = read_table(__file__)
_FORMATS: Final = {int(kind): row for kind, row in _TABLE["values"].items()}
_TENSORS: Final = {int(kind): row for kind, row in _TABLE["tensors"].items()}
_STRING, _ARRAY = 8, 9
_BYTES: Final = Formula("num_params * block_bytes // block_size")
_SOURCE: Final = N_("types and shapes in the file's header; blocks as llama.cpp stores them")


class _Header:
    """Goes through the bytes of a header, never beyond their end."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = len(MAGIC)

    def skip(self, size: int) -> int:
        """Go on by so many bytes, and return where they begin."""
        start, self.place = self.place, self.place + size
        if self.place > len(self.content):
            raise _damaged()
        return start

    def number(self, mark: str) -> int:
        """Return the next number of a format of `struct`."""
        start = self.skip(struct.calcsize(mark))
        return cast("int", struct.unpack_from(f"<{mark}", self.content, start)[0])

    def text(self) -> str:
        """Return the next text."""
        start = self.skip(self.number("Q"))
        return self.content[start : self.place].decode("utf-8", "replace")

    def value(self) -> object:
        """Return the next value; of an array its type and how many there are."""
        kind = self.number("I")
        if kind == _STRING:
            return self.text()
        if kind != _ARRAY:
            return self.number(_known(_FORMATS, kind))
        kind, count = self.number("I"), self.number("Q")
        if kind != _STRING:
            self.skip(count * struct.calcsize(_known(_FORMATS, kind)))
            return kind, count
        for _text in range(min(count, len(self.content))):
            self.skip(self.number("Q"))
        return kind, count

    def tensor(self) -> tuple[str, int, int]:
        """Return the next tensor's name, type and how many numbers it has."""
        name, axes = self.text(), self.number("I")
        size = prod(self.number("Q") for _axis in range(min(axes, 8)))
        kind, _offset = self.number("I"), self.number("Q")
        if axes > 8 or size >= MAX_NUMBERS or size % _known(_TENSORS, kind)[1]:
            raise _damaged()
        return name, kind, size


def _known(table: Mapping[int, Any], kind: int) -> Any:  # noqa: ANN401  a row of a table
    if kind not in table:
        raise _damaged()
    return table[kind]


def _damaged() -> ValueError:
    return ValueError(_("The GGUF header is cut off, damaged or not of version 2 or 3."))


def read_gguf(content: bytes) -> Brought:
    """Return what the header of a GGUF file says; its numbers may be missing.

    Raises:
        ValueError: If the header is cut off, of an unknown version, or its lengths are wrong.
    """
    header = _Header(content)
    version, num_tensors, num_fields = (header.number(mark) for mark in "IQQ")
    if version not in (2, 3) or max(num_tensors, num_fields) > MAX_COUNT:
        raise _damaged()
    fields = {header.text(): header.value() for _field in range(num_fields)}
    tensors = [header.tensor() for _tensor in range(num_tensors)]
    sizes: dict[int, int] = {}
    for _name, kind, size in tensors:
        sizes[kind] = sizes.get(kind, 0) + size
    if not sum(sizes.values()):
        raise _damaged()
    named = written_name(str(fields.get("general.name", "")))
    config = _config(fields, {name for name, _kind, _size in tensors})
    stored = stored_as({_TENSORS[kind][0]: size for kind, size in sizes.items()})
    notes = () if stored else (_("The plan has no formats of GGUF: see the bytes of the file."),)
    model = _model(config) or model_named(named)
    return Brought(
        kind="gguf", model=model, config="" if model else config, named=named, notes=notes,
        settings={"work": "serve"} | stored, beyond=() if stored else (_("formats of GGUF"),),
        items=counted_tensors(_stored(sizes), sum(sizes.values()), _SOURCE),
    )  # fmt: skip


def _stored(sizes: Mapping[int, int]) -> list[Item]:
    found = [(size, *_TENSORS[kind]) for kind, size in sorted(sizes.items())]
    return [
        counted(
            name, _BYTES,
            {"num_params": size, "block_bytes": num_bytes, "block_size": block}, _SOURCE,
        )
        for size, name, block, num_bytes in found
    ]  # fmt: skip


def _config(fields: Mapping[str, Any], names: set[str]) -> str:
    """Return the config.json of a model like Llama; "" for any other."""
    kind = str(fields.get("general.architecture", ""))
    found = {
        field: fields[f"{kind}.{name}"]
        for name, field in _TABLE["sizes"].items()
        if f"{kind}.{name}" in fields
    }
    if isinstance(tokens := fields.get("tokenizer.ggml.tokens"), tuple):
        found.setdefault("vocab_size", tokens[1])
    family = _TABLE["architectures"].get(kind, "")
    if kind == "llama" and "num_experts" in found:
        family, found = "mixtral", found | {"num_local_experts": found["num_experts"]}
    config = {"model_type": family, "tie_word_embeddings": "output.weight" not in names}
    return readable(config | found) if family else ""


def _model(config: str) -> str:
    if not config:
        return ""
    spec = read_config(config)
    return same_model(spec) or next(iter(models_as_wide(spec)[-1:]), "")
