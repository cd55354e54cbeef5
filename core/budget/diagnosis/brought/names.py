"""The model that a file names: a row of the catalogue, or none where that is not sure."""

import re
from dataclasses import fields
from typing import Final

from core.budget.catalogue.models import MODELS
from core.budget.table import read_table
from core.models.spec import ModelSpec

_TABLE: Final = read_table(__file__)
_STORED: Final = frozenset(_TABLE["stored"])
FORMATS: Final = _TABLE["formats"]  # word of a checkpoint's name -> weight format; the first counts
_SAME_SIZE: Final = _STORED | frozenset(_TABLE["same_size"])
_NO_SHAPE: Final = frozenset(
    {"name", "published", "beyond", "maker", "source", "guessed", "not_counted"}
    | {"num_mtp_layers"}
)
_NOT_IN_SHAPES: Final = frozenset({"num_heads", "num_kv_heads", "head_dim", "seq_len"})
_REPOSITORY: Final = re.compile(r"huggingface\.co/[^/,: ]+/([^/,: ]+)")


def _plain(name: str) -> str:
    words = re.split(r"[-_ ]", name.strip().rstrip("/").rpartition("/")[2].lower())
    return "-".join(word for word in words if word and word not in _SAME_SIZE)


def _repository(spec: ModelSpec) -> str:
    found = _REPOSITORY.search(spec.source)
    return _plain(found[1]) if found else ""


_KNOWN: Final = {
    **_TABLE["built_alike"],
    **{name: key for key, spec in MODELS.items() if (name := _repository(spec))},
    **{_plain(key): key for key in MODELS},
}


def model_named(name: str) -> str:
    """Return the key of MODELS that a path or a repository means; "" if that is not sure.

    >>> model_named("NousResearch/Llama-2-7b-hf"), model_named("me/R1-Distill-Llama-8B")
    ('llama-2-7b', '')
    """
    return str(_KNOWN.get(_plain(name), ""))


def stored_words(name: str) -> tuple[str, ...]:
    """Return the words of a name that tell of weights with fewer bits: "awq", "4bit"."""
    words = re.split(r"[-_/ ]", name.lower())
    return tuple(word for word in words if word in _STORED)


def same_model(spec: ModelSpec) -> str:
    """Return the key of the model of the catalogue that is built exactly so; "" if none is."""
    return next((key for key in MODELS if _agree(spec, MODELS[key], _NO_SHAPE)), "")


def models_as_wide(spec: ModelSpec) -> tuple[str, ...]:
    """Return the keys of models whose tensors have the same shapes: heads are known as a whole."""
    return tuple(
        key
        for key, known in MODELS.items()
        if _widths(known) == _widths(spec) and _agree(spec, known, _NO_SHAPE | _NOT_IN_SHAPES)
    )


def _agree(one: ModelSpec, other: ModelSpec, without: frozenset[str]) -> bool:
    names = [each.name for each in fields(one) if each.name not in without]
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _widths(spec: ModelSpec) -> tuple[int, int]:
    return spec.num_heads * spec.head_dim, spec.num_kv_heads * spec.head_dim
