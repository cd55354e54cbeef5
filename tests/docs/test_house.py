"""The house: menu, rooms and tests bear the same names, and every file has a subject."""

import ast
import re

import pytest

UNNAMED = {"utils", "util", "helpers", "helper", "common", "misc", "lib", "tools"}
OWN_TO_PAGES = {"start", "shared", "components", "panels", "server"}
MAX_LINES = 300
MAX_BODY = 45


def python_files(root, *folders):
    return sorted(p for folder in folders for p in (root / folder).rglob("*.py"))


def rooms(folder):
    return {p.name for p in folder.iterdir() if p.is_dir() and any(p.rglob("*.py"))}


def test_every_section_of_the_menu_is_a_room_of_core(root):
    assert rooms(root / "pages") - OWN_TO_PAGES <= rooms(root / "core")


def test_every_room_has_tests_under_its_name_and_no_tests_lie_elsewhere(root):
    assert rooms(root / "tests" / "core") == rooms(root / "core")


def test_every_test_lies_in_a_file_that_is_collected(root):
    for path in python_files(root, "tests"):
        if not path.name.startswith("test_"):
            assert "\ndef test_" not in path.read_text(encoding="utf-8"), path.relative_to(root)


@pytest.mark.parametrize("folder", ["core", "pages", "tests", "benchmarks"])
def test_no_file_or_folder_is_named_after_nothing(root, folder):
    for path in (root / folder).rglob("*"):
        assert path.stem.lower() not in UNNAMED, path.relative_to(root)


def test_a_file_of_more_than_300_lines_says_why(root):
    for path in [root / "app.py", *python_files(root, "core", "pages")]:
        text = path.read_text(encoding="utf-8")
        lines = len(text.splitlines())
        if lines > MAX_LINES:
            assert "\nWhy long: " in text, f"{path.relative_to(root)} has {lines} lines"


def test_the_body_of_a_function_has_at_most_45_lines(root):
    for path in [root / "app.py", *python_files(root, "core", "pages")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert lines <= MAX_BODY, f"{path.relative_to(root)}: {node.name} has {lines}"


def test_nothing_is_left_unfinished(root):
    for path in python_files(root, "core", "pages"):
        text = path.read_text(encoding="utf-8")
        for word in ("TODO", "FIXME", "XXX", "NotImplementedError"):
            assert word not in text, f"{path.relative_to(root)}: {word}"


def test_no_text_names_a_folder_of_one_machine(root):
    for path in [root / "app.py", *python_files(root, "core", "pages", "benchmarks")]:
        text = path.read_text(encoding="utf-8")
        for place in ("/" + "tmp/", "/" + "home/", "/" + "root/"):
            assert place not in text, f"{path.relative_to(root)}: {place}"


def test_a_proof_that_a_file_names_exists(root):
    for path in [*root.glob("*.md"), *python_files(root, "core", "pages", "benchmarks")]:
        for named in re.findall(r"\btests/[\w./]*\.py\b", path.read_text(encoding="utf-8")):
            assert (root / named).exists(), f"{path.relative_to(root)}: {named}"
