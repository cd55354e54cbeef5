"""The course in five steps: each a picture of what a lesson shows, and the way to that lesson."""

from dataclasses import dataclass
from html import escape
from typing import Any, Final
from urllib.parse import quote

import streamlit as st

from core.figures.start.home.steps import drawn, load_steps
from core.language import N_, _
from core.units import format_percent
from pages.shared.lessons import lesson_link, lessons_of
from pages.shared.navigation import page_row
from pages.shared.settings import look, presenting
from pages.shared.start.course_map import find

FIRST_LEVEL: Final = 1
_FORMAT: Final = "bfloat16"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the name of its picture, and the lesson that shows the same."""

    picture: str
    lesson: str


STEPS: Final = (
    Step("bits", "bits-bf16-half"),
    Step("place", "transpose-is-a-view"),
    Step("graph", "what-a-gradient-says"),
    Step("next_token", "from-text-to-the-next-token"),
    Step("memory", "training-five-residents"),
)
_SAID: Final = {
    "bits": N_("π in {format} is {value}"),
    "place": N_("In the transposed tensor, [{row}, {column}] is stored at {address}"),
    "graph": N_("The gradient of {leaf} is {gradient}"),
    "next_token": N_("After “{text}” comes “{token}”: {chance}"),
    "memory": N_("{model} takes {total} to train, the {device} has {capacity}"),
}


def show_steps() -> None:
    with st.container(key="home_steps", horizontal=True):
        for number, step in enumerate(STEPS, start=1):
            with st.container(key=f"home_step_{number}", gap=None):
                said = _said(step.picture)
                st.html(_picture(step.picture, said))
                lesson = find(step.lesson)
                lesson_link(lesson, f"**{number} · {_(page_row(lesson.page).section)}**")
                if not presenting():
                    st.caption(said)


def num_first_lessons() -> int:
    """Return how many lessons of the first level the pages of the steps have."""
    pages = {find(step.lesson).page for step in STEPS}
    return sum(each.level == FIRST_LEVEL for page in pages for each in lessons_of(page))


def _picture(name: str, alt: str) -> str:
    source = f"data:image/svg+xml,{quote(drawn(name, look()))}"
    return f'<img src="{source}" alt="{escape(alt)}" data-picture="{name}">'


def _said(picture: str) -> str:
    return _(_SAID[picture]).format(**_words(picture))


def _words(picture: str) -> dict[str, Any]:
    numbers = load_steps()[picture]
    if picture == "bits":
        return next(each for each in numbers["rows"] if each["format"] == _FORMAT)
    if picture == "place":
        row, column = numbers["index"]
        return {"row": row, "column": column, "address": numbers["address"]}
    if picture == "graph":
        return {"leaf": numbers["leaf"], "gradient": f"{numbers['gradient']:g}"}
    if picture == "next_token":
        text = "".join(numbers["tokens"]).split()[-1]
        token, chance = numbers["candidates"][0], numbers["chances"][0]
        return {"text": text, "token": token, "chance": format_percent(chance)}
    size = look().format_bytes
    return {
        **{name: numbers[name] for name in ("model", "device")},
        **{name: size(numbers[name]) for name in ("total", "capacity")},
    }
