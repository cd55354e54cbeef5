"""What a reader must know of a config.json beside its numbers."""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from core.budget.catalogue.hf_config import STORED, kind_of, language_part, layout_of, read_config
from core.budget.catalogue.hf_fields import Config, shown
from core.budget.weights.parameters import counts
from core.language import _, ngettext
from core.models.spec import ModelSpec
from core.units import format_count

MOST_NAMED: Final = 8  # fields in one headline


def config_notes(text: str) -> tuple[str, ...]:
    """Return what a reader must know of a config.json beside its numbers, a sentence each.

    What was missing and taken from transformers, a layout that was guessed, weights that are
    stored quantized.

    Raises:
        ValueError: If `read_config` refuses the text.
    """
    spec = read_config(text)
    config = language_part(json.loads(text))
    return (
        *_guess_note(spec, config),
        *_missing_notes(spec, config),
        *_beyond_notes(spec, config),
        *_stored_notes(config),
    )


def guess_words(spec: ModelSpec) -> str:
    """Return what must stand beside every number of a model that is not wholly known; else ""."""
    words = [_("layout guessed")] if spec.guessed else []
    if spec.not_counted:
        words.append(_("not counted: {fields}").format(fields=fields_named(spec.not_counted)))
    return _("; ").join(words)


def fields_named(names: Sequence[str]) -> str:
    """Return names of fields, which a stranger may have written, for a sentence; not too many."""
    said = [f"`{shown(name).strip(chr(39))}`" for name in names[:MOST_NAMED]]
    if (more := len(names) - MOST_NAMED) > 0:
        said.append(_("{count} more").format(count=more))
    return _(", ").join(said)


def _guess_note(spec: ModelSpec, config: Config) -> Iterator[str]:
    if spec.guessed:
        yield _(
            "Its type is not known here: it is counted as if laid out like Llama, so every number "
            "is an estimate."
        )
    elif kind_of(config) != config["model_type"]:
        yield _("Its type {type} is counted as {same}, whose architecture it names.").format(
            type=config["model_type"], same=kind_of(config)
        )


def _missing_notes(spec: ModelSpec, config: Config) -> Iterator[str]:
    family, defaults = layout_of(config)
    for name, value in defaults.items():
        yield _(
            "config.json has no {key}: {value}, the default of transformers for {type}, is taken.",
            key=family.names[name],
            value=f"{value:,}",
            type="llama" if spec.guessed else kind_of(config),
        )
        if name == "vocab_size":
            yield _("Its layers alone, which do not depend on that, hold {count}.").format(
                count=format_count(counts(spec).layers)
            )


def _beyond_notes(spec: ModelSpec, config: Config) -> Iterator[str]:
    if config.get("vision_config") is not None:
        yield _("Its vision_config is left out: the text model is counted.")
    if num_layers := spec.num_mtp_layers:
        yield ngettext(
            "Its files also hold {count} layer for multi-token prediction, which counts in the "
            "FLOPs of training alone.",
            "Its files also hold {count} layers for multi-token prediction, which count in the "
            "FLOPs of training alone.",
            num_layers,
        ).format(count=num_layers)


def _stored_notes(config: Config) -> Iterator[str]:
    """Say how quantized weights are stored; the fields are whatever their maker wrote."""
    stored = config.get("quantization_config")
    if stored is None:
        return
    fields = stored if isinstance(stored, dict) else {}
    said = [f"{key}: {shown(fields[key])}" for key in STORED if fields.get(key) is not None]
    yield _(
        "Its quantization_config ({stored}) says that the weights are stored quantized. Here "
        "parameters are counted, each once; how they are stored is a choice of the page."
    ).format(stored=_(", ").join(said) or shown(stored))
