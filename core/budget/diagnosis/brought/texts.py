"""The texts of recipes, taken apart: JSON, TOML, YAML, command lines and calls in Python.

Each gives fields by dotted names. Nothing of a text is run, and none is read without an end to its
length, its depth and its references.
"""

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, Final

import yaml

from core.budget.catalogue.hf_fields import MAX_DEPTH, is_deep
from core.budget.table import read_table
from core.language import _

Fields = dict[str, Any]
MAX_RECIPE: Final = 1 << 16  # characters
MAX_KEY: Final = 100  # characters: the names of many fields begin with that of their part
MAX_ALIASES: Final = 10
MAX_FIELDS: Final = 10_000
UNWRITTEN: Final = object()
"""Stands for a value that only the run would know: `args.batch_size`."""
MAX_CALLS: Final = 50
MAX_CALL: Final = 1 << 13  # characters
# What PyYAML's constructors let through of texts that are no YAML, beside its own errors.
_DAMAGE: Final = (
    yaml.YAMLError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip
_CALL: Final = re.compile(
    r"\b(\w{0,40}TrainingArguments|(?:SFT|DPO|Reward|GRPO|KTO|ORPO)Config|LoraConfig|"
    r"BitsAndBytesConfig|(?:FastLanguageModel\.)?from_pretrained|get_peft_model|LLM|"
    r"prepare_model_for_kbit_training|Trainer\.Config)\s{0,40}\("
)
# Every repetition is possessive or short: no text makes one start over at each of its characters.
_IN_CALL: Final = re.compile(
    r"\"(?:\\.|[^\"\\])*+\"?|'(?:\\.|[^'\\])*+'?|#[^\n]*+|[()\[\]{}]", re.DOTALL
)
_LONG_KEY: Final = re.compile(r"(?:\.[^.\n]{0,40}+){41}")  # tomllib takes the square of its time
_TABLE: Final = read_table(__file__)
_MARKED: Final[Mapping[str, Fields]] = _TABLE["marked"]
_COMMAND: Final = re.compile(
    r"^[ \t]{0,40}(?:\$ )?(?:[A-Z_][A-Z_0-9]*+=\S++ ++)*+(?:vllm|sglang|swift|python3?|torchrun|"
    r"accelerate|deepspeed|trl|docker|srun|sudo|nohup|llamafactory-cli|axolotl|uv|--)\S*+(?: |$)",
    re.MULTILINE,
)
_END: Final = re.compile(  # of a command, outside of what is quoted
    r"\"(?:\\.|[^\"\\])*+\"?|(?<!\w)'[^']*+'?|(?<!\S)#[^\n]*+|(\s\d?>|[|;&]|```|\n[ \t]*+\n)",
    re.DOTALL,
)
_FLAG: Final = re.compile(r"(--?)([A-Za-z][\w.-]*)(?:=(.*))?", re.DOTALL)
_SHORT: Final[Mapping[str, str]] = _TABLE["short"]
_VISIBLE: Final = re.compile(r"\bCUDA_VISIBLE_DEVICES=[\"']?(\d{1,3}(?:,\d{1,3}){0,63})\b")
_PROGRAMS: Final = ("launch", "serve", "train", "sft", "dpo")
_SERVED: Final = {
    "served_by_vllm": re.compile(r"\bvllm serve\b|-m vllm\b|\bvllm-openai\b|^\S+/vllm\S*"),
    "served_by_sglang": re.compile(r"\bsglang serve\b|-m sglang\b|\bsglang:"),
}
_IMAGE: Final = re.compile(r"^[ \t-]{0,40}image: {1,9}(\S*(?:vllm|sglang:)\S*)", re.MULTILINE)
_NESTED: Final = re.compile(r"(?:\.|Training|Parallelism|Checkpoint)Config$")  # of torchtitan
_TOKENIZER: Final = re.compile(r"(?:Tokenizer|Processor)\.$")


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """Builds plain values, of a text that is not deep and refers back to itself a few times."""

    depth = num_aliases = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self.num_aliases += self.check_event(yaml.AliasEvent)
        self.depth += 1
        if self.depth > MAX_DEPTH or self.num_aliases > MAX_ALIASES:
            raise ValueError
        node: yaml.Node | None = super().compose_node(parent, index)
        self.depth -= 1
        return node


def json_fields(text: str) -> Fields:
    """Return what an object of JSON holds.

    Raises:
        ValueError: If it is none, or too deep.
    """
    with suppress(RecursionError, ValueError):
        found: Fields = json.loads(text)
        if not is_deep(found):
            return found
    raise ValueError(_("This JSON cannot be read: it is torn, or nested beyond reason."))


def recipe_fields(text: str) -> Fields | None:
    """Return the fields of a command line, of calls in Python, of TOML or of YAML; else None."""
    readers: tuple[Callable[[str], object], ...] = (_container, _calls, _command, _toml, _yaml)
    for read in readers:
        try:
            found = read(text)
            repr(found)  # a ValueError where a whole number is too long to be written
        except _DAMAGE:
            continue
        if isinstance(found, dict) and found and _is_short(found):
            return found
    return None


def _toml(text: str) -> object:
    return {} if _LONG_KEY.search(text) else tomllib.loads(text)


def _yaml(text: str) -> object:
    return yaml.load(text, _Loader)  # noqa: S506  a SafeLoader with limits


def _is_short(fields: Fields) -> bool:
    """Return whether what refers back to itself ends."""
    return sum(1 for _field in islice(flat(fields), MAX_FIELDS)) < MAX_FIELDS


def flat(fields: Mapping[Any, Any], before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield fields by their dotted names; dashes of top names as command lines have them.

    >>> dict(flat({"a": {"b": 1}, "max-model-len": 2}))
    {'a.b': 1, 'max_model_len': 2}
    """
    for key, value in fields.items():
        own = str(key)[:MAX_KEY]
        name = before + (own if before else own.replace("-", "_"))
        if isinstance(value, Mapping) and value and depth < MAX_DEPTH:
            yield from flat(value, f"{name}.", depth + 1)
        else:
            yield name, value


def _calls(text: str) -> Fields:
    fields: Fields = {}
    for match in islice(_CALL.finditer(text), MAX_CALLS):
        call = _parsed(text[match.start() : _end_of_call(text, match.end())])
        if call is None or not (call.keywords or call.args):
            continue
        of_tokenizer = _TOKENIZER.search(text, max(0, match.start() - 40), match.start())
        if match[1] == "from_pretrained" and of_tokenizer:
            continue
        if match[1].endswith("from_pretrained") and call.args:
            fields.setdefault("pretrained_model_name_or_path", _literal(call.args[0]))
        found = {each.arg: _literal(each.value) for each in call.keywords if each.arg}
        if match[1] == "LLM":
            found |= {"model": _literal(call.args[0])} if call.args else {}
        fields |= _MARKED.get(match[1], {}) | found
    if fields.keys() & {"load_in_4bit", "load_in_8bit"}:
        fields.pop("quantization_config", None)  # it is the call that said so
    return fields


def _end_of_call(text: str, start: int) -> int:
    depth = 1
    for match in _IN_CALL.finditer(text, start, start + MAX_CALL):
        depth += (match[0] in "([{") - (match[0] in ")]}")
        if depth == 0 or depth > MAX_DEPTH:
            return match.end()
    return start


def _parsed(text: str) -> ast.Call | None:
    try:
        tree = ast.parse(text, mode="eval").body
    except (MemoryError, RecursionError, SyntaxError, ValueError):
        return None
    return tree if isinstance(tree, ast.Call) else None


def _literal(node: ast.expr) -> object:
    """Return a value that is written out, and the name of a dtype of torch; else UNWRITTEN."""
    if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "torch":
        return node.attr
    if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
        pairs = zip(node.keys, node.values, strict=True)
        return {str(_literal(key)): _literal(value) for key, value in pairs if key}
    if isinstance(node, ast.Call) and _NESTED.search(ast.unparse(node.func)):
        return {each.arg: _literal(each.value) for each in node.keywords if each.arg}
    try:
        return ast.literal_eval(node)
    except (MemoryError, RecursionError, TypeError, ValueError):
        return UNWRITTEN


def _command(text: str) -> Fields:
    whole = _END.sub(lambda found: "\0" if found[1] else found[0], text.replace("\\\n", " "))
    fields: Fields = {}
    for part in whole.split("\0"):
        if begin := _COMMAND.search(part):
            fields |= _flags(part[begin.start() :])
    if fields and (seen := _VISIBLE.search(text)):
        fields["visible_devices"] = seen[1].count(",") + 1
    return fields


def _container(text: str) -> Fields:
    """Return the flags of a service of Docker Compose or Kubernetes."""
    if not (image := _IMAGE.search(text)):
        return {}
    words = [image[1], *_arguments(_yaml(text))]
    return _flags(shlex.join(words)) if words[1:] else {}


def _arguments(value: object) -> Iterator[str]:
    """Yield the words of the commands that stand in a value."""
    if isinstance(value, str) and "--" in value:
        yield from shlex.split(value.replace("\\\n", " "))
    elif isinstance(value, list) and any(str(each).startswith("--") for each in value):
        yield from map(str, value)
    elif isinstance(value, (list, Mapping)):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _arguments(each)


def _flags(command: str) -> Fields:
    words = shlex.split(command, comments=True)
    fields: Fields = {name: True for name, words in _SERVED.items() if words.search(command)}
    if fields:
        after = words.index("serve") + 1 if "serve" in words else len(words)
        if after < len(words) and not words[after].startswith("-"):
            fields["model"] = words.pop(after)
    name = ""
    values: dict[str, list[str]] = {name: []}  # of no flag
    for word in words:
        if flag := _FLAG.fullmatch(word):
            plain = flag[2].replace("-", "_")
            name = _SHORT.get(plain, plain if flag[1] == "--" else "")
            values[name] = [] if flag[3] is None else [flag[3]]
        elif word.endswith(".py") or word in _PROGRAMS:
            name = ""
        else:
            values[name].append(word)
    del values[""]
    return fields | {name: each if each[1:] else (*each, True)[0] for name, each in values.items()}
