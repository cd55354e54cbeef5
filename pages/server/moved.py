"""Addresses that readers may have saved lead on: what they once meant, and where it stands now.

`moved.toml` beside this file lists it. Several rows may follow one another.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from pages.server.first_look import asks_for_a_page
from pages.shared.navigation import PAGES

OF_EVERY_PAGE: Final = frozenset({"lang", "units", "present", "hide", "lock"})
SIDE_A: Final = "_a"
_MOST_MOVES: Final = 20
Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """One row: which addresses it is about, and what they are from now on.

    Attributes:
        page: Address of the page in the old link, without "/".
        when: Setting -> its value in the old link; "*" is any value, "" is a setting that is left
            out of a link that says something else of that page.
        any: Settings of which the old link has at least one; a side A ("lr_a") counts if it is of
            a time before the plan. With `defaults` it is all of these, `names` and `drop`.
        to: Address of the page now; "" if it stays.
        set: Setting -> value, in front of what the link says itself.
        defaults: Old setting -> what it was where the link left it out and says it in no new way.
        products: Setting now -> old settings, or numbers, whose product it is.
        names: Old setting -> its name now. On another page all that is not listed is dropped.
        values: Name now -> old value -> its value now; several settings as "plan_a=1&plan_b=2".
        drop: Settings that are no more.
    """

    page: str
    when: Mapping[str, str] = field(default_factory=dict)
    any: Sequence[str] = ()
    to: str = ""
    set: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    products: Mapping[str, Sequence[str]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    drop: Sequence[str] = ()

    def is_about(self, page: str, query: Pairs) -> bool:
        """Return whether an address is one of the old ones."""
        given = dict(query)
        says_something = any(name not in OF_EVERY_PAGE for name in given)
        return page == self.page and all(
            name in given if value == "*"
            else given[name] == value if name in given
            else value == "" and says_something
            for name, value in self.when.items()
        ) and (not self._old or any(_is_old(name, given) for name in self._old))  # fmt: skip

    @property
    def _old(self) -> Sequence[str]:
        return self.any or ((*self.defaults, *self.names, *self.drop) if self.defaults else ())

    def applied(self, query: Pairs) -> list[tuple[str, str]]:
        """Return what the link says now, hidden settings and side A by their new names too."""
        given = dict(query)
        left_out = [
            (name, value)
            for name, value in self.defaults.items()
            if not {name, self.names.get(name, name)} & {*given, *self.set}
        ]
        return [*self.set.items(), *self._said([*left_out, *query])]

    def _said(self, query: Pairs) -> Iterator[tuple[str, str]]:
        given, leaves = dict(query), self.to not in ("", self.page)
        for name, parts in self.products.items():
            if (product := _product(parts, given)) is not None:
                yield name, product
        for name, value in query:
            known = name in OF_EVERY_PAGE or name in self.names or not leaves
            if not known or name in self.drop or name in self.set:
                continue
            now = self.names.get(name, name)
            if now == "hide":
                yield now, ",".join(map(self._hidden, value.split(",")))
            elif (
                name.endswith(SIDE_A)
                and (self.defaults or name in self.any)
                and "plan_" not in value
            ):
                yield now, self._side(name.removesuffix(SIDE_A), value, given)
            else:
                text = self.values.get(now, {}).get(value, value)
                yield from parse_qsl(text) if "=" in text and now in self.values else [(now, text)]

    def _hidden(self, name: str) -> str:
        """Return a hidden setting by its new name, whether the link names the page with it or not.

        Of a setting that went into a product that is the product's name.
        """
        into = {part: new for new, parts in reversed([*self.products.items()]) for part in parts}
        for old, new in (into | dict(self.names)).items():
            if name in (old, old.partition("_")[2]):
                return new
        return name

    def _side(self, page: str, text: str, given: Mapping[str, str]) -> str:
        """Return the text of a side A, which names settings without the page's name, and no tab."""
        tab = {name: given[name] for name in (f"{page}_tab",) if name in given}
        said = {f"{page}_{name}": value for name, value in parse_qsl(text)}
        _page, now, _moved = _lead(self.page, [*{**self.defaults, **said, **tab}.items()])
        names = {name.removeprefix(f"{page}_"): value for name, value in now if name not in tab}
        return urlencode(names, safe=",:/+")


def _is_old(name: str, given: Mapping[str, str]) -> bool:
    return name in given and not (name.endswith(SIDE_A) and "plan_" in given[name])


def _product(parts: Sequence[str], given: Mapping[str, str]) -> str | None:
    """Return a product as the address writes numbers; None if a factor is none."""
    try:
        product = float(prod(float(given.get(each, each)) for each in parts))
    except ValueError:
        return None
    return str(int(product)) if product.is_integer() else str(product)


class MovedLinks:
    """Lead a browser from an old address to the new one; all else passes as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the new address, or pass the request on."""
        if not asks_for_a_page(scope):
            await self.app(scope, receive, send)
            return
        old = f"{scope['path']}?{scope['query_string'].decode('latin-1')}"
        new = moved(old)
        if new == old:
            await self.app(scope, receive, send)
        else:
            await RedirectResponse(new)(scope, receive, send)


def moved(address: str) -> str:
    """Return where an address leads: "/page?setting=value"; one that is not old as it is."""
    parts = urlsplit(address)
    page = parts.path.strip("/") or PAGES[0].address
    page, query, is_old = _lead(page, parse_qsl(parts.query, keep_blank_values=True))
    if not is_old:
        return address
    path = parts.path if page == parts.path.strip("/") or page == PAGES[0].address else f"/{page}"
    return f"{path}?{urlencode(query)}" if query else path


def _lead(page: str, query: Pairs) -> tuple[str, Pairs, bool]:
    """Return the page and the settings at the end of all rows, and whether one was about them."""
    is_old = False
    for _move in range(_MOST_MOVES):
        move = next((row for row in load_moves() if row.is_about(page, query)), None)
        if move is None:
            break
        page, query, is_old = move.to or page, move.applied(query), True
    return page, query, is_old


@cache
def load_moves() -> tuple[Move, ...]:
    """Return the rows of moved.toml.

    Raises:
        ValueError: If a row is about a page that is not there, or leads to none.
    """
    rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["move"]
    known = {row.address for row in PAGES}
    for row in rows:
        if not {row["page"], row.get("to", row["page"])} <= known:
            raise ValueError(f"moved.toml: {row} names a page that is not in the menu")
    return tuple(Move(**row) for row in rows)
