"""Every recipe of CONTRIBUTING.md is followed, word for word, in a copy of the house."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = r"\n\n```\w+\n(.*?)```"


PLACE = r"(?:Into `(?P<table>\w+)` of|(?P<how>Into the imports of|At the end of|In a new file))"
STEP = re.compile(PLACE + r" `(?P<path>[\w/.]+)`:" + BLOCK, re.DOTALL)
MOST_PYTHON = 30


@dataclass(frozen=True)
class Step:
    table: str | None  # the rows go below its last one
    how: str | None
    path: str
    rows: str


@dataclass(frozen=True)
class Recipe:
    title: str
    steps: tuple[Step, ...]
    proof: str


def read_recipe(section):
    title, _, body = section.partition("\n")
    steps = tuple(
        Step(each["table"], each["how"], each["path"], each[4]) for each in STEP.finditer(body)
    )
    proof = re.search("Then this holds:" + BLOCK, body, re.DOTALL)
    assert steps, f"{title}: say into what, in which new file or at the end of which"
    assert proof, f"{title}: say what holds then"
    return Recipe(title, steps, proof[1])


def recipes():
    section = TEXT.partition("\n## Recipes\n")[2].partition("\n## ")[0]
    return [read_recipe(part) for part in section.split("\n### ")[1:]]


def follow(step, house):
    path = house / step.path
    if step.how == "In a new file":
        path.parent.mkdir(parents=True, exist_ok=True)
        assert not path.exists()
        path.write_text(step.rows, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    if step.how == "At the end of":
        path.write_text(text + step.rows, encoding="utf-8")
        return
    table = rf"^( *){step.table}\b[^\n]*= ?[({{]$.*?\n(?=\1[)}}])"  # up to the line that closes it
    found = re.search(table if step.table else "^from (core|pages)", text, re.MULTILINE | re.DOTALL)
    assert found, f"no {step.table or 'imports'} in {step.path}"
    place = found.end() if step.table else found.start()
    path.write_text(text[:place] + step.rows + text[place:], encoding="utf-8")


def run(proof, house):
    return subprocess.run(
        [sys.executable, "-c", proof],
        cwd=house,
        env={**os.environ, "PYTHONPATH": str(house)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def house(tmp_path):
    for room in ("core", "pages"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / room, tmp_path / room, ignore=ignore)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe.title)
def test_a_recipe_does_what_it_says(recipe, house):
    before = run(recipe.proof, house)
    assert before.returncode != 0, "the proof must not hold before the recipe is followed"
    for step in recipe.steps:
        follow(step, house)
    after = run(recipe.proof, house)
    assert after.returncode == 0, after.stderr


def test_there_is_a_recipe_for_what_is_often_added():
    words = " ".join(recipe.title for recipe in recipes())
    for thing in ("tab", "page", "format", "text", "size", "device", "lesson", "translation"):
        assert thing in words


@pytest.mark.parametrize("title", ["Add a tab", "Add a page with a figure"])
def test_a_page_or_a_tab_takes_few_lines_of_python(title):
    (recipe,) = (each for each in recipes() if each.title == title)
    rows = "".join(step.rows for step in recipe.steps if step.path.endswith(".py"))
    assert len([line for line in rows.splitlines() if line.strip()]) <= MOST_PYTHON
