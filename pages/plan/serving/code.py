"""Plain Python that computes the numbers of a tab again, out of the rules behind them."""

import re
from collections.abc import Iterator, Sequence
from textwrap import indent
from typing import Final

from core.budget.budget import Budget
from core.budget.item import Item, Number
from core.budget.serving.kv_cache import KVVariant
from core.budget.serving.memory import MOST_SEQUENCES
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import intensity

_NAME: Final = re.compile(r"[A-Za-z_]\w*")
MEMORY: Final = """
from math import ceil

{weights}
room = {capacity:_} - weights  # bytes


def growing(concurrency):
{growing}
    return {names}


cache, work = growing({plan})
print(f"weights {{weights / 2**30:.2f}} GiB, KV cache {{cache / 2**30:.2f}} GiB", end=", ")
print(f"workspace {{work / 2**30:.2f}} GiB")
most = 0
while most < {limit:_} and sum(growing(most + 1)) <= room:
    most += 1
print(f"{{most:,}} concurrent sequences fit")
"""
CACHE: Final = """
# {name}, {num_kv_heads} KV heads, {kv_format}
{rules}
print(f"KV cache of one sequence: {{KV_cache / 2**20:,.0f}} MiB")
"""
SPEED: Final = """
# {count} concurrent
{rules}
print(f"{{1 / time_per_token:.4g}} tokens/s for each of {count} users")
"""
DEVICE: Final = """
# prompts included
{prefill}
concurrency, output_len = {count}, {output_len}
answers = concurrency * output_len
seconds = concurrency * time_to_first_token + output_len * time_per_token
print(f"{{answers / seconds / {tensor}:.4g}} tokens/s per device")
"""
ROOFLINE: Final = """
{rules}
peak = {peak!r}
ridge_point = peak / bandwidth
print(f"arithmetic intensity {{arithmetic_intensity:.3g}} FLOP/byte", end=", ")
print(f"ridge point {{ridge_point:.4g}} FLOP/byte")
reached = flops / tensor / reading_or_computing
print(f"{{reached / peak:.3%}} of the peak")
"""

PROOF: Final = """
from core.budget.serving.decode_speeds import measured_fit, published_speeds

rows, rule = published_speeds(), measured_fit()
errors = [1 / rule.seconds(row) / row.tokens_per_second - 1 for row in rows]
print(f"{sum(abs(error) <= 0.15 for error in errors)} of {len(rows)} within 15 %")
"""


def rules(*items: Item, known: dict[str, str] | None = None, given: str = "") -> str:
    """Return the rules of numbers as assignments, what each is made of first.

    A quantity is set again only where it changes: several numbers can stand one after the other.

    Args:
        items: The numbers.
        known: What the code before these lines has set; grows.
        given: The quantity that the code around these lines sets.
    """
    known = {} if known is None else known
    return "\n".join(line for each in items for line in _lines(each, known, given))


def _lines(item: Item, known: dict[str, str], given: str) -> Iterator[str]:
    for part in item.children:
        yield from _lines(part, known, given)
    for name in dict.fromkeys(_NAME.findall(item.formula) if item.rule else ()):
        if name not in item.values or name == given:
            continue
        value = _literal(item.values[name])
        if known.get(name) != value:
            known[name] = value
            yield f"{name} = {value}"
    yield f"{_name(item)} = {item.formula}"


def _name(item: Item) -> str:
    return item.name.replace(" ", "_")


def _literal(value: Number) -> str:
    return f"{value:_}" if isinstance(value, int) else repr(value)


def memory_code(budget: Budget, concurrency: int) -> str:
    """Return code that counts the parts of a plan and how many sequences fit."""
    weights, *growing = budget.item.children
    return MEMORY.format(
        weights=rules(weights),
        capacity=budget.capacity,
        growing=indent(rules(*growing, given="concurrency"), "    "),
        names=", ".join(map(_name, growing)),
        plan=concurrency,
        limit=MOST_SEQUENCES,
    )


def cache_code(*variants: KVVariant) -> str:
    """Return code that counts the cache of one sequence for some kinds of attention."""
    parts = [
        CACHE.format(
            name=each.name,
            num_kv_heads=each.num_kv_heads,
            kv_format=each.kv_format,
            rules=rules(each.cache),
        )
        for each in variants
    ]
    return "from math import ceil\n" + "".join(parts)


def speed_code(plans: Sequence[ServingPlan], tokens: Sequence[Item], prefill: Item | None) -> str:
    """Return code for the speed of some plans, and of the device with the last of them.

    Args:
        plans: That differ in their concurrent sequences.
        tokens: The time for a token of each.
        prefill: The time for one prompt; None where the last plan does not fit.
    """
    known: dict[str, str] = {}
    parts = [
        SPEED.format(count=plan.concurrency, rules=rules(token, known=known))
        for plan, token in zip(plans, tokens, strict=True)
    ]
    if prefill:
        last = plans[-1]
        device = DEVICE.format(
            prefill=rules(prefill, known=known),
            count=last.concurrency,
            output_len=last.output_len,
            tensor=last.tensor,
        )
        parts.append(device)
    return "".join(parts)


def roofline_code(token: Item) -> str:
    """Return code for the arithmetic intensity of a pass, and what it reaches of the peak."""
    (reading, _computing) = token.child("reading or computing").children
    peak = reading.values["native_flops_per_second"]
    return ROOFLINE.format(rules=rules(token, intensity(token)), peak=peak)
