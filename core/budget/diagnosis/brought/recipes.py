"""Recipes of training and serving, turned into settings of the plan by the rows of recipes.toml.

A field gives facts ("bf16 is on", "4 bits"); what several facts say together (precision, LoRA,
sharding, devices, tokens of a step) is worked out here, once for all tools.
"""

import fnmatch
import re
from collections.abc import Mapping
from math import prod
from typing import Any, Final

from core.budget.catalogue.models import MODELS
from core.budget.cluster import MAX_DEVICES
from core.budget.diagnosis.brought.names import FORMATS, model_named, stored_words
from core.budget.diagnosis.brought.record import Brought, Setting
from core.budget.diagnosis.brought.texts import UNWRITTEN, flat
from core.budget.recipe import MAX_TOKENS
from core.budget.table import read_table
from core.language import _

Facts = dict[str, Any]
_TABLE: Final = read_table(__file__)
_VALUES: Final[Mapping[str, Mapping[str, str]]] = _TABLE["values"]
RECIPES: Final[Mapping[str, Any]] = _TABLE["recipes"]
"""Kind -> its marks, fields and what else is known of it; the surest marks first."""
_SHARDERS: Final = {"deepspeed_file", "fsdp", "sharding", "launched"}
_MOST: Final = {"devices": MAX_DEVICES, "batch": 4096, "rank": 256}
_NOTHING: Final = ("", "auto", "none", "no", "false", "0", "-1", "null")
_SETTINGS: Final = (
    *("length", "batch", "optimizer", "kind", "tensor", "stages", "context", "expert", "weights"),
    *("kv", "concurrency", "context_length"),
)
_SWITCHES: Final = ("bf16", "fp16", "param_dtype", "deepspeed_half")
_MATRICES: Final = {
    frozenset({"q", "v"}): "qv",
    frozenset({"q", "k", "v", "o"}): "attention",
    frozenset({"q", "k", "v", "o", "gate", "up", "down"}): "all",
}
_STAGE: Final = re.compile(r"(?:zero|z)[-_]?(?:stage)?[-_]?([0-3])", re.IGNORECASE)
_MAX_NAME: Final = 80


def kind_of_recipe(fields: Mapping[str, Any]) -> str:
    """Return the kind of a recipe; "" if it has no field that tells."""
    return next((kind for kind, row in RECIPES.items() if fields.keys() & {*row["marks"]}), "")


class _Reading:
    """Gathers what the fields of one recipe say."""

    def __init__(self, kind: str) -> None:
        self.row = RECIPES[kind]
        self.facts: Facts = {}
        self.open: set[str] = set()
        self.unwritten: list[str] = []
        self.beyond: list[str] = []
        self.ignored: list[str] = []
        self.notes: list[str] = []
        listed = {name: self.row[name] for name in ("beyond", "no_bearing")}
        self.known = {name: _any_of(patterns) for name, patterns in listed.items()}

    def read(self, name: str, value: object) -> None:
        """Take over one field."""
        facts = self.row["fields"].get(name, [])
        facts = facts if isinstance(facts, list) else [facts]
        if value is UNWRITTEN and (facts or self.known["beyond"].match(name)):
            self._leave_open(*facts)
            self.unwritten.append(written_name(name))
        elif facts:
            for fact in facts:
                self._take(name, fact, value)
        elif _is_empty(value):
            return
        elif self.known["beyond"].match(name):
            if not _says_nothing(value):
                self._cannot_hold(name, value)
        elif not self.known["no_bearing"].match(name):
            self.ignored.append(written_name(name))

    def _take(self, name: str, fact: str, value: object) -> None:
        if _is_empty(value):
            return
        is_open = str(value).lower() == "auto"
        if is_open and (fact != "bf16" or fact in self.row.get("open", ())):
            self._leave_open(fact)
            return
        found = _read_fact(fact, value)
        is_sharder = fact in {"fsdp", "deepspeed_file"}
        if found is None or (is_sharder and "offload" in str(value).lower()):
            self._cannot_hold(name, value)
        if found is None:
            self.open.add(fact)
        if found or (is_sharder and found is None):
            self.facts[fact] = found or "?"
        if is_open:
            self.notes.append(_("bf16 is “auto”: taken as on; a GPU without bfloat16 takes fp16."))

    def _leave_open(self, *facts: str) -> None:
        self.open |= {*facts}
        self.facts |= {fact: "open" for fact in facts if fact in {"bf16", "fp16"}}

    def _cannot_hold(self, name: str, value: object) -> None:
        self.beyond.append(f"{written_name(name)} = {written_name(str(value))}")

    def take_defaults(self, group: str, fields: Mapping[str, Any]) -> None:
        """Take what the tool takes for fields that are missing, and say so."""
        missing = {
            name: value
            for name, value in self.row.get(group, {}).items()
            if fields.get(name) is None
        }
        for name, value in missing.items():
            self.read(name, value)
        if missing:
            written = _("; ").join(
                f"{name} = {str(value).lower()}" for name, value in missing.items()
            )
            text = _("Not in the file, and taken as its program takes it: {fields}.")
            self.notes.append(text.format(fields=written))


def read_recipe(kind: str, given: Mapping[str, Any]) -> Brought:
    """Return what the fields of a recipe say of the plan.

    Args:
        kind: A key of RECIPES.
        given: Its fields, nested or by dotted names.
    """
    fields = dict(flat(given))
    reading = _Reading(kind)
    for name, value in fields.items():
        reading.read(name, value)
    reading.take_defaults("defaults", fields)
    if _is_adapted(reading.facts):
        reading.take_defaults("adapter_defaults", fields)
    implied = reading.row.get("implied", {})
    reading.facts = {each: implied[each] for each in implied.keys() - reading.open} | reading.facts
    names = [reading.facts.get(name, "") for name in ("model", "family", "flavor")]
    named = written_name(" ".join(filter(None, names)))
    model = _model(reading, named)
    settings = _settings(reading, model)
    for text, found in (
        (_("The plan cannot hold: {fields}."), reading.beyond),
        (_("Not written out in the text: {fields}."), reading.unwritten),
    ):
        reading.notes += [text.format(fields=_("; ").join(found))] if found else []
    return Brought(
        kind=kind, model=model, named=named, settings=settings,
        ignored=tuple(reading.ignored), notes=tuple(reading.notes), beyond=tuple(reading.beyond),
    )  # fmt: skip


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(each) for each in patterns))


def written_name(name: str) -> str:
    """Return a name of a file's own as a page can show it."""
    return "".join(
        mark if mark.isalnum() or mark in " ._-/+*[]{}(),:='\"" else "?"
        for mark in name[:_MAX_NAME]
    )


def _is_empty(value: object) -> bool:
    return value is None or value in ("", [], {})


def _says_nothing(value: object) -> bool:
    return _is_empty(value) or str(value).lower() in _NOTHING


def _read_fact(fact: str, value: object) -> int | str | None:
    """Return what a value says of a fact: "" for nothing, None for what no plan can hold."""
    if fact in _READERS:
        return _READERS[fact](value)
    if fact not in _VALUES:
        return _count(value, _MOST.get(fact, MAX_TOKENS))
    words = value if isinstance(value, list) else str(value).split()
    plain = [str(word).lower().removeprefix("torch.") for word in words]
    found = [_VALUES[fact].get(word, _VALUES[fact].get("*")) for word in plain]
    return None if None in found else next((each for each in found if each), "")


def _count(value: object, most: int) -> int | str | None:
    """Return a whole number; "" for -1, which stands for "not said"."""
    text = str(value).strip()
    for mark, size in {"k": 1000, "K": 1024, "m": 10**6, "M": 2**20}.items():  # as vLLM reads them
        if re.fullmatch(rf"\d{{1,9}}{mark}", text):
            text = str(int(text[:-1]) * size)
    if text == "-1" or not re.fullmatch(r"\d{1,12}(?:\.0)?", text):
        return "" if text == "-1" else None
    return number if 1 <= (number := int(float(text))) <= most else None


def _text(value: object) -> str | None:
    return str(value) if isinstance(value, (str, int, float)) else None


def _targets(value: object) -> str | None:
    words = value if isinstance(value, list) else re.split(r"[,\s]+", str(value))
    if [str(word) for word in words] in (["all"], ["all-linear"]):
        return "all"
    return _MATRICES.get(frozenset(str(word).removesuffix("_proj") for word in words))


def _deepspeed_file(value: object) -> str | None:
    """Return the stage that the name of a file tells, as "zero2.json" does; "?" if it does not."""
    found = _STAGE.search(str(value).rpartition("/")[2])
    return found[1] if found else "" if _says_nothing(value) else "?"


_READERS: Final = {
    "model": _text, "family": _text, "flavor": _text, "targets": _targets,
    "deepspeed_file": _deepspeed_file,
}  # fmt: skip


def _served(reading: _Reading, model: str) -> dict[str, Setting]:
    facts, notes = reading.facts, reading.notes
    counted, capped, unsaid = (reading.row[name] for name in ("counted", "capped", "longest"))
    found: dict[str, Setting] = (
        {"weights": facts["served_dtype"]} if "served_dtype" in facts else {}
    )
    found |= {"devices": facts["tensor"]} if "tensor" in facts else {}
    notes.append(_(counted))
    if "cap" in facts:
        notes.append(_(capped).format(count=facts["cap"]))
    if model and "context_length" not in facts.keys() | reading.open:
        found["context_length"] = longest = MODELS[model].seq_len
        notes.append(_(unsaid).format(count=f"{longest:,}"))
    return found


def _settings(reading: _Reading, model: str) -> dict[str, Setting]:
    facts = reading.facts
    found: dict[str, Setting] = {"work": reading.row["work"]}
    found |= {name: facts[name] for name in _SETTINGS if name in facts}
    if found["work"] == "serve":
        return found | _served(reading, model)
    if facts.get("stages", 1) > 1 and "micro_batch" in facts:
        found["batch"] = facts["micro_batch"]
    if facts.get("tensor", 1) > 1 and facts.get("sequence"):
        found["sequence"] = True
    if "muon" in facts:
        found["optimizer"] = facts["muon"]
    found |= _precision(reading) | _sharding(reading) | _checkpointing(reading) | _lora(reading)
    return found | _devices_and_step(facts)


def _engine(reading: _Reading) -> str:
    """Return who shards: "deepspeed", "fsdp" or nobody."""
    facts = reading.facts
    known = facts.get("engine") or reading.row.get("engine")
    if known == "fsdp" and facts.get("shard") == 1:
        return "ddp"
    begins = {each.partition("_")[0] for each in facts}
    return known or next((each for each in ("deepspeed", "fsdp") if each in begins), "")


def _precision(reading: _Reading) -> dict[str, Setting]:
    facts, engine = reading.facts, _engine(reading)
    switches = [facts.get(name) for name in _SWITCHES]
    if facts.get("fp16") == "on":
        reading.notes.append(_("fp16 takes the bytes of bf16, which stands in the plan for it."))
    is_half = facts.get("dtype") == "half" or reading.row.get("loads_half")
    if "pure" in facts or (is_half and not _is_adapted(facts) and not engine and "on" in switches):
        return {"precision": "pure_bf16"}
    if "on" not in switches:
        is_full = facts.get("dtype") == "full" or "engine" in reading.row
        is_off = "off" in switches and "open" not in switches
        return {"precision": "fp32"} if is_off and is_full else {}
    if engine == "fsdp":
        more = {"reduce": facts["reduce"]} if "reduce" in facts else {}
        return {"precision": "fsdp2"} | more
    # Adapters in fp32 on frozen weights in 16 bits take the same 16 bytes each, and no copies.
    if engine == "deepspeed" or _is_adapted(facts):
        return {"precision": "mixed_bf16"}
    if "dtype" not in facts and "param_dtype" not in facts:
        reading.notes.append(
            _(
                "bf16 or fp16 here is autocast over weights in fp32; were they loaded in 16 bits, "
                "choose “all in bf16”."
            )
        )
    return {"precision": "autocast_bf16"}


def _sharding(reading: _Reading) -> dict[str, Setting]:
    facts = reading.facts
    engine = _engine(reading)
    names = ("sharding", "fsdp_strategy", "deepspeed_file", "fsdp_reshard", "fsdp")
    said = [facts[name] for name in names if facts.get(name, "?") != "?"]
    if "deepspeed_file" in facts:
        text = _(
            "Of the DeepSpeed file only its name is known: bring it too, for ZeRO and offload."
        )
        reading.notes.append(text)
    if facts.get("replicate", 1) > 1 and engine == "fsdp":
        reading.notes.append(_("The plan cannot hold replicas of shards (HSDP): all are shards."))
    if engine == "ddp":
        return {"sharding": "0"}
    if not engine and "deepspeed" in reading.row["fields"] and not reading.open & _SHARDERS:
        text = _("It names neither FSDP nor DeepSpeed: plain data parallelism as far as it says.")
        reading.notes.append(text)
        return {"sharding": "0"}
    if "default" in said:
        is_piped = facts.get("stages", 1) > 1
        said = ["2" if is_piped else "3"]
        text = _("Under pipelines reshard_after_forward = default keeps the gathered weights.")
        reading.notes += [text] if is_piped else []
    said += ["3"] if engine == "fsdp" else []
    return {"sharding": said[0]} if said else {}


def _checkpointing(reading: _Reading) -> dict[str, Setting]:
    facts = reading.facts
    names = ("fsdp_checkpointing", "checkpointing", "no_checkpointing")
    found = next((facts[name] for name in names if name in facts), "")
    if found == "selective" and not (found := facts.get("selective_option", "")):
        text = _("Checkpointing of every so many layers in full is none that the plan has.")
        reading.notes.append(text)
    if found == "selective":
        reading.beyond.append(_("every second product made again (selective_ac_option = op)"))
    return {"checkpointing": found} if found else {}


def _is_adapted(facts: Facts) -> bool:
    return bool(facts.get("adapter") == "lora")


def _lora(reading: _Reading) -> dict[str, Setting]:
    facts = reading.facts
    if not _is_adapted(facts):
        return {"lora": "none"} if facts.get("adapter") == "none" else {}
    base = "bfloat16"
    if "four_bit" in facts or facts.get("num_bits") == "4":
        base = "nf4_double_quant" if facts.get("double") == "on" else "nf4"
    elif "eight_bit" in facts or facts.get("num_bits") == "8":
        base = "int8_channel"
    targets = facts.get("every_matrix") or facts.get("targets")
    more = {"rank": facts.get("rank"), "targets": targets}
    if not reading.open & {"four_bit", "eight_bit", "num_bits"}:
        more["lora"] = base
    return {name: value for name, value in more.items() if value}


def _devices_and_step(facts: Facts) -> dict[str, Setting]:
    """Return devices and the tokens of a step, where all that they follow from is known."""
    found: dict[str, Setting] = {}
    degrees = [int(facts.get(name, 1)) for name in ("replicate", "tensor", "stages", "context")]
    sequences = int(facts.get("batch", 0) * facts.get("accumulation", 0))  # of a replica's step
    devices = facts.get("devices") or facts.get("visible", 0)
    if "per_node" in facts:
        devices = facts["per_node"] * facts.get("nodes", 1)
    elif "shard" in facts:
        devices = facts["shard"] * prod(degrees)
    elif "all_sequences" in facts and sequences and "tensor" not in facts:
        devices, rest = divmod(facts["all_sequences"], sequences)
        devices = 0 if rest else devices
    if 0 < devices <= MAX_DEVICES:
        found["devices"] = devices
    replicas = devices // prod(degrees[1:])
    tokens = (facts.get("global_batch") or replicas * sequences) * facts.get("length", 0)
    return found | ({"step": tokens} if 1 <= tokens <= MAX_TOKENS else {})


def _model(reading: _Reading, named: str) -> str:
    words, facts = stored_words(named), reading.facts
    is_served = reading.row["work"] == "serve"
    form = next((FORMATS[each] for each in FORMATS if is_served and each in words), "")
    text = _("The name speaks of stored weights with fewer bits ({words}): see their format.")
    if form:
        facts["weights"] = form
        text = _("The name speaks of stored weights ({words}), and so they are taken as {format}.")
    if form or (words and not facts.keys() & {"weights", "four_bit"}):
        reading.notes.append(text.format(words=_(", ").join(words), format=form))
    return reading.row.get("models", {}).get(named) or model_named(named)
