"""The model that a file names: a row of the catalogue, or none where that is not sure."""

import re
from typing import Final

from core.budget.catalogue.models import MODELS
from core.budget.table import read_table
from core.models.spec import ModelSpec

_TABLE: Final = read_table(__file__)
_STORED: Final = frozenset(_TABLE["stored"])
_SAME_SIZE: Final = _STORED | frozenset(_TABLE["same_size"])
_REPOSITORY: Final = re.compile(r"huggingface\.co/[^/,: ]+/([^/,: ]+)")


def _plain(name: str) -> str:
    words = re.split(r"[-_]", name.strip().rstrip("/").rpartition("/")[2].lower())
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
    return _KNOWN.get(_plain(name), "")


def stored_words(name: str) -> tuple[str, ...]:
    """Return the words of a name that tell of weights with fewer bits: "awq", "4bit"."""
    words = re.split(r"[-_/]", name.lower())
    return tuple(word for word in words if word in _STORED)
