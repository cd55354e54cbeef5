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


@dataclass(frozen=True)
class Recipe:
    title: str
    table: str | None  # rows go into this table, or to the end of the file
    path: str
    rows: str
    proof: str


def read_recipe(section):
    title, _, body = section.partition("\n")
    place = re.search(r"(?:Into `(\w+)` of|At the end of) `([\w/.]+)`:" + BLOCK, body, re.DOTALL)
    proof = re.search("Then this holds:" + BLOCK, body, re.DOTALL)
    assert place, f"{title}: say into what, or at the end of which file"
    assert proof, f"{title}: say what holds then"
    return Recipe(title, place[1], place[2], place[3], proof[1])


def recipes():
    section = TEXT.partition("\n## Recipes\n")[2].partition("\n## ")[0]
    return [read_recipe(part) for part in section.split("\n### ")[1:]]


def follow(recipe, house):
    path = house / recipe.path
    text = path.read_text(encoding="utf-8")
    if recipe.table is None:
        path.write_text(text + recipe.rows, encoding="utf-8")
        return
    opening = re.search(rf"^{recipe.table}\b.*= \($", text, re.MULTILINE)
    assert opening, f"no table {recipe.table} in {recipe.path}"
    text = f"{text[: opening.end()]}\n{recipe.rows.rstrip()}{text[opening.end() :]}"
    path.write_text(text, encoding="utf-8")


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


@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe.title)
def test_a_recipe_does_what_it_says(recipe, house):
    before = run(recipe.proof, house)
    assert before.returncode != 0, "the proof must not hold before the recipe is followed"
    follow(recipe, house)
    after = run(recipe.proof, house)
    assert after.returncode == 0, after.stderr


def test_there_is_a_recipe_for_what_is_often_added():
    words = " ".join(recipe.title for recipe in recipes())
    for thing in ("format", "text", "size", "lesson", "translation"):
        assert thing in words
