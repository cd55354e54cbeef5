"""What can be found on Home: every page, tab, lesson, term, model, device and number format."""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.language import N_
from core.language.catalogue import translations
from core.language.glossary import TERMS
from pages.shared.lessons import Lesson, load_concepts, load_lessons
from pages.shared.navigation import PAGES, PageRow, page_row

if TYPE_CHECKING:
    from core.dtypes import Format

Link = tuple[str, Mapping[str, str]]
"""A page and what its link sets."""
SIZING: Final = ("plan/what_fits", "plan/training_memory", "plan/serving", "plan/model_sizes")
"""Pages that answer for a model and a device of the plan."""
_BITS, _ROUNDING = "dtypes/bit_layouts", "dtypes/rounding_and_overflow"
_LARGEST: Final = N_("{number} is the largest number of {format}")
_OVERFLOW: Final = N_("{format} overflows above {largest}: {number} becomes {result}")
_SYNONYMS: Final = Path(__file__).with_name("synonyms.toml")
_TAB: Final = r'Tab\(\s*label=(?:N_\()?"([^"]+)"'
_LISTED: Final = re.compile(rf'"(\w+)": (?:(\w+)\.TAB\b|{_TAB})')
_INPUTS: Final = re.compile(r'^ASK\b.*= Inputs\("(\w+)"', re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One thing to find.

    Attributes:
        kind: page, tab, lesson, term, model, device, format, number or overflow.
        key: Which one of its kind.
        names: What it is called: in English, in Chinese, and by others.
        body: What else tells of it.
        links: Where it is shown.
    """

    kind: str
    key: str
    names: Sequence[str]
    body: str = ""
    links: Sequence[Link] = ()

    @property
    def target(self) -> str:
        return f"{self.kind}:{self.key}"


@cache
def all_entries() -> tuple[Entry, ...]:
    """Return everything that can be found; of equals the first is the best."""
    made = (*_terms(), *_pages(), *_models(), *_devices(), *_formats(), *_tabs(), *_lessons())
    unknown = set(_synonyms()) - {entry.target for entry in made}
    assert not unknown, f"synonyms.toml names what is not there: {unknown}"  # noqa: S101
    return made


@cache
def question(row: PageRow) -> str:
    """Return the question of a page: the first line of its docstring."""
    script = ast.parse(row.file.read_text(encoding="utf-8"))
    return (ast.get_docstring(script) or "").partition("\n")[0]


@cache
def _synonyms() -> Mapping[str, Sequence[str]]:
    """Return target -> what others call it."""
    return tomllib.loads(_SYNONYMS.read_text(encoding="utf-8"))


def _entry(kind: str, key: str, *names: str, body: str = "", links: Sequence[Link] = ()) -> Entry:
    others = _synonyms().get(f"{kind}:{key}", ())
    return Entry(kind=kind, key=key, names=(*names, *others), body=body, links=links)


def _both(message: str, **fields: str) -> tuple[str, str]:
    return message.format(**fields), translations("zh").gettext(message).format(**fields)


def _terms() -> Iterator[Entry]:
    for term in TERMS:
        if term.explanation:
            told = " ".join(_both(term.explanation))
            yield _entry("term", term.english, term.english, term.chinese, body=told)


def _pages() -> Iterator[Entry]:
    for row in PAGES:
        names = (*_both(row.title), *_both(question(row)))
        yield _entry("page", row.key, *names, links=[(row.key, {})])


def _tabs() -> Iterator[Entry]:
    taught = defaultdict[str, list[str]](list)
    for lesson in load_lessons():
        row = page_row(lesson.page)
        tab = lesson.query.get(f"{_inputs(row)}_tab", next(iter(_labels(row)), ""))
        taught[f"{row.key}#{tab}"] += [*lesson.title.values(), *_concepts(lesson)]
    for row in PAGES:
        for tab, label in _labels(row).items():
            key, (english, chinese) = f"{row.key}#{tab}", _both(label)
            names = (english, chinese, f"{row.title} {english}", f"{_both(row.title)[1]} {chinese}")
            body = " ".join([*_both(question(row)), *taught[key]])
            yield _entry(
                "tab", key, *names, body=body, links=[(row.key, {f"{_inputs(row)}_tab": tab})]
            )


@cache
def _labels(row: PageRow) -> Mapping[str, str]:
    """Return the labels of a page's tabs, from its text: who runs it shows it, and loads torch."""
    labels = {}
    for key, module, label in _LISTED.findall(row.file.read_text(encoding="utf-8")):
        file = row.file.with_name(f"{module}.py")
        labels[key] = label or re.findall(_TAB, file.read_text(encoding="utf-8"))[-1]
    return labels


@cache
def _inputs(row: PageRow) -> str:
    texts = (file.read_text(encoding="utf-8") for file in sorted(row.file.parent.glob("*.py")))
    return next(found[1] for found in map(_INPUTS.search, texts) if found)


def _lessons() -> Iterator[Entry]:
    for lesson in load_lessons():
        if lesson.page != PAGES[0].key or not lesson.query:  # else it is a search itself
            body = " ".join([*_concepts(lesson), *_both(page_row(lesson.page).title)])
            yield _entry("lesson", lesson.slug, *lesson.title.values(), body=body)


def _concepts(lesson: Lesson) -> Iterator[str]:
    for concept in lesson.concepts:
        yield from (concept, *load_concepts().get(concept, {}).values())


def _sizing(kind: str, key: str) -> Sequence[Link]:
    return [(page, {f"plan_{kind}": key}) for page in SIZING]


def _models() -> Iterator[Entry]:
    from core.budget.catalogue.models import MODELS  # only who searches waits for it

    for key, spec in reversed(list(MODELS.items())):  # the newest of a family first
        names = (spec.name, spec.name, key)
        yield _entry("model", key, *names, body=spec.maker, links=_sizing("model", key))


def _devices() -> Iterator[Entry]:
    from core.budget.catalogue.devices import DEVICES

    for key, device in reversed(list(DEVICES.items())):
        short = device.name.partition(" (")[0]  # of "M4 Max (128 GB)"
        number = next(word for word in short.split() if re.search(r"\d", word))
        names = (short, short, number, short.partition(number)[0] + number)
        yield _entry("device", key, *names, body=device.maker, links=_sizing("device", key))


def _formats() -> Iterator[Entry]:
    from core.dtypes import FORMATS

    for name, fmt in FORMATS.items():
        cast = (_ROUNDING, {"rounding_format": name})
        yield _entry("format", name, name, name, links=[_bits(fmt, 1.0), cast])
        said = [_written(fmt.max, digits) for digits in (6, 3, 2)]
        names = (*_both(_LARGEST, number=said[0], format=name), *said)
        yield _entry("number", f"{name}.max", *names, links=[_bits(fmt, fmt.max), cast])
        yield _overflow(fmt)


def _bits(fmt: "Format", number: float) -> Link:
    from core.dtypes import explain_cast

    code = hex(explain_cast(fmt, Fraction(number)).code)
    return _BITS, {"bits_format": fmt.name, "bits_code": code}


def _overflow(fmt: "Format") -> Entry:
    """Return a number of one digit that a format cannot hold, and what becomes of it."""
    from core.dtypes import explain_cast

    power = int(f"{fmt.max:e}".partition("e")[2])
    texts = (str(n * 10**power) if power < 7 else f"{n}e{power}" for n in range(1, 21))
    number = next(text for text in texts if explain_cast(fmt, text).outcome == "overflow")
    result, largest = f"{explain_cast(fmt, number).result:g}", _written(fmt.max)
    names = _both(_OVERFLOW, format=fmt.name, largest=largest, number=number, result=result)
    called = (fmt.name, *_synonyms().get(f"format:{fmt.name}", ()))
    others = (f"{each} {word} {largest}" for each in called for word in ("overflow", "溢出"))
    shown = {"rounding_tab": "formats", "rounding_value": number, "rounding_format": fmt.name}
    return _entry("overflow", fmt.name, *names, *others, links=[(_ROUNDING, shown)])


def _written(number: float, digits: int = 6) -> str:
    """Return a number as people look for it.

    >>> _written(65504.0), _written(3.3895313892515355e38)
    ('65504', '3.38953e38')
    """
    return f"{number:.{digits}g}".replace("e+", "e")
