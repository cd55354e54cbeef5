"""Which calls a page allows: each profile is one table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.expressions.functions import FUNCTIONS
from core.expressions.methods import METHODS, PROPERTIES, WRITES
from core.expressions.signature import Call


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """What a text may call.

    Attributes:
        methods, properties, functions: Rows by the name that a reader writes.
        writes_elements: Whether `x[0] = 1` is allowed.
    """

    methods: Mapping[str, Call]
    properties: Mapping[str, Call]
    functions: Mapping[str, Call]
    writes_elements: bool = False


LAYOUT: Final = Profile(methods=METHODS, properties=PROPERTIES, functions=FUNCTIONS)
MUTATION: Final = Profile(
    methods={**METHODS, **WRITES}, properties=PROPERTIES, functions=FUNCTIONS, writes_elements=True
)
