"""Every page script is thin: a question, widgets, one call of core, a picture."""

import ast

import pytest

from core.language.extract import ROOT, is_page, page_question, source_files

PAGES = [path for path in source_files() if is_page(path)]
ARITHMETIC = (ast.Sub, ast.Mult, ast.Pow, ast.FloorDiv, ast.Mod, ast.MatMult)
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))


def test_there_are_pages():
    assert PAGES


@each_page
def test_the_first_docstring_line_is_the_question_that_the_page_answers(page):
    question = page_question(page)
    assert question.endswith("?"), question
    assert len(question) <= 90, question


@each_page
def test_a_page_does_no_arithmetic(page):
    """Joining texts with `+` and paths with `/` is not arithmetic."""
    tree = ast.parse(page.read_text(encoding="utf-8"))
    found = [node.lineno for node in ast.walk(tree) if is_arithmetic(node)]
    assert found == [], f"lines {found}: numbers are made in core"


def is_arithmetic(node):
    if not isinstance(node, ast.BinOp | ast.AugAssign):
        return False
    number = isinstance(node, ast.BinOp) and any(
        isinstance(side, ast.Constant) and isinstance(side.value, int | float)
        for side in (node.left, node.right)
    )
    return isinstance(node.op, ARITHMETIC) or number
