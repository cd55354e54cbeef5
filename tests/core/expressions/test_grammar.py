"""Which texts are read, and where those that are not are wrong."""

import ast

import pytest

from core.expressions import ExpressionError
from core.expressions.grammar import NAMES_OF_NODES, parse
from core.expressions.limits import MAX_CHARACTERS, MAX_DEPTH, MAX_ITEMS, MAX_NODES, MAX_STRING
from tests.core.expressions.warm import place


def refused(text):
    with pytest.raises(ExpressionError, match=r"\w") as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "guilty", "word"),
    [
        ("x + [i for i in x]", "[i for i in x]", "comprehension"),
        ("x.view(lambda: 0)", "lambda: 0", "lambda"),
        ("y = x\nx.t() if x else y", "x.t() if x else y", "if ... else"),
        ("x\nimport os", "import os", "import"),
        ("x.view(f'{x}')", "f'{x}'", "f-string"),
        ("x[(y := 1)]", "y := 1", ":="),
        ("x.view([*y])", "*y", "unpacked with *"),
        ("x.view(**y)", "**y", "Unpacking"),
        ("x + _y", "_y", "underscore"),
        ("x.__class__", "x.__class__", "underscore"),
        ("x + 1j", "1j", "complex"),
        ("x + b'a'", "b'a'", "bytes"),
        ("x.view(9223372036854775808)", "9223372036854775808", "19 digits"),
        ("x * 1e999", "1e999", "float64"),
        ("x < y < x", "x < y < x", "one comparison"),
        ("a = b = x", "a = b = x", "one name"),
        ("x.a = y", "x.a = y", "Attributes"),
        ("a_very_long_name_x = x", "a_very_long_name_x", "longer"),
        ("x + \\", "\\", "reverse solidus"),
        ("x.t()\nx.\u0442()", "\u0442", "cyrillic small letter te"),
        ("x.\uff54()", "\uff54", "write t"),
        ("x \u2212 x", "\u2212", "minus sign"),
        ("x\u200b.t()", "\u200b", "U+200B"),
        ("x +\u00a0x", "\u00a0", "no-break space"),
    ],
)
def test_an_error_points_at_the_guilty_part_and_names_it(text, guilty, word):
    error = refused(text)
    assert place(text, error) == guilty
    assert word in error.message


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("x.t(", 1, 3), ("x.t()\nx +", 2, 2), ("x)", 1, 1), ("\n\nx..t()", 3, 2), ("x\n  y", 2, 1)],
)
def test_what_python_cannot_read_is_placed_where_python_stumbles(text, line, column):
    error = refused(text)
    assert (error.line, error.column) == (line, column)
    assert "Python syntax error" in error.message


def test_empty_lines_before_a_text_count_and_space_around_it_does_not():
    assert parse("\n\n  x.t()  \n").source == "\n\nx.t()"
    assert parse("x.t()\r\nx").source == "x.t()\nx"


@pytest.mark.parametrize("text", ["", "   ", "\n", "#", "# a remark"])
def test_nothing_is_said_to_be_nothing(text):
    assert "nothing to evaluate" in refused(text).message


@pytest.mark.parametrize(
    ("text_of", "limit", "word"),
    [
        (lambda number: "x" + " " * (number - 2) + "#", MAX_CHARACTERS, "characters"),
        (lambda number: f"[{', '.join('x' * number)}]", MAX_ITEMS, "items"),
        (lambda number: f"'{'a' * number}'", MAX_STRING, "characters"),
        (lambda number: "-" * (number - 2) + "x", MAX_DEPTH, "nested too deeply"),  # module, line
        (lambda number: "\n".join(["x"] * (number // 2)), MAX_NODES, "too many parts"),
    ],
    ids=["characters", "items", "string", "depth", "nodes"],
)
def test_each_limit_lets_its_number_through_and_one_more_not(text_of, limit, word):
    assert parse(text_of(limit - 1)).statements
    assert word in refused(text_of(limit + 2)).message


def test_the_limits_keep_a_tree_small_enough_for_recursion():
    text = "-" * (MAX_DEPTH - 2) + "x"
    assert sum(1 for _ in ast.walk(ast.parse(text))) < 2 * MAX_NODES


def test_a_name_stands_for_every_statement_and_expression_that_is_left_out():
    from core.expressions.grammar import EXPRESSIONS, OPERATORS, STATEMENTS

    allowed = {*STATEMENTS, *EXPRESSIONS, *OPERATORS}
    assert not allowed & NAMES_OF_NODES.keys()
