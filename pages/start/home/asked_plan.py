"""What a query says of a plan besides its model and device: "in 4 bits on one ..., 4 users"."""

import re
from collections.abc import Mapping
from typing import Final

from core.budget.cluster import MAX_DEVICES

WEIGHTS: Final = {"4": "int4_group128", "8": "int8_channel"}
_BITS: Final = re.compile(r"(?<![\d.])([48])[- ]?(?:bits?(?![a-z])|比特|位(?!用户))|\bint([48])\b")
_TOKENS: Final = re.compile(r"(?<![\d.])(?:(\d+) ?k(?![a-z])|(\d{3,7}) ?(?:tokens?|个?词元))")
_IN_ALL: Final = re.compile(r"([\d.]+) ?(b|billion|t|trillion|亿)个? ?(?:tokens?|词元)")
_BILLIONS: Final = {"b": 1, "t": 1000, "亿": 0.1}
_USERS: Final = re.compile(
    r"(?<![\d.])(\d+) ?(?:concurrent )?[个位名]?(?:users?|sequences|用户|并发)"
)
_COUNT: Final = r"(?<![\w.-])(?:(\d+) ?[x×张块卡]?|one|single|单[张块]?|一[张块]) ?(?:nvidia )?(?="


def asked_plan(query: str, model: str = "", device: str = "") -> Mapping[str, str]:
    """Return the settings of the plan that a query names; what no page can set is left out.

    Args:
        query: What is asked.
        model: Name of the model in it: the numbers of its name say nothing of a plan.
        device: Name of the device in it: how many there are stands before its first word.

    >>> asked_plan("Qwen3-32B, 2 RTX 5090, 32k", "Qwen3 32B", "RTX 5090")["plan_devices"]
    '2'
    """
    from pages.shared.plan.choices import SERVED_CONTEXTS, SERVED_SEQUENCES, TRAINED_LENGTHS

    text = " ".join(query.lower().replace(",", "").split())
    if model:
        text = re.sub(r"[ -]?".join(re.split("[ -]", re.escape(model.lower()))), " ", text)
    said: dict[str, str] = {}
    if found := _BITS.search(text):
        said["plan_weights"] = WEIGHTS[found[1] or found[2]]
    if found := _TOKENS.search(text):
        tokens = int(found[1]) * 1024 if found[1] else int(found[2])
        sizes = {"plan_length": TRAINED_LENGTHS, "plan_context_length": SERVED_CONTEXTS}
        said |= {name: str(tokens) for name, stops in sizes.items() if tokens in stops}
    if (found := _USERS.search(text)) and int(found[1]) in SERVED_SEQUENCES:
        said |= {"plan_concurrency": found[1], "plan_work": "serve"}
    if found := _IN_ALL.search(text):
        said["plan_tokens"] = f"{float(found[1]) * _BILLIONS[found[2][0]]:g}"
    counted = device and re.search(_COUNT + re.escape(device.lower().split()[0]) + ")", text)
    if counted and 1 <= int(counted[1] or 1) <= MAX_DEVICES:
        said["plan_devices"] = counted[1] or "1"
    return said
