"""The table of published figures: every row, both numbers, in the reader's language."""

from core.budget.comparison.published import published

SCRIPT = "from pages.plan.training_memory.ladder import show_published\nshow_published()"


def opened(open_script, **query):
    app = open_script(SCRIPT, **query)
    assert not any("| litgpt" in each.value for each in app.markdown), "made only when opened"
    app.session_state["memory_published"] = True
    app.run()
    assert [each.message for each in app.exception] == []
    return next(each.value for each in app.markdown if "litgpt" in each.value)


def test_every_published_figure_stands_in_the_table(open_script):
    lines = opened(open_script).splitlines()
    for figure in published().values():
        (line,) = [each for each in lines if each.startswith(f"| {figure.title['en']} |")]
        assert figure.source in line, figure.slug
        assert ("| – | – |" in line) == (not figure.quantity), figure.slug
        assert ("inside our band" in line) == (figure.tolerance is None), figure.slug
        assert ("not counted: " in line) == bool(figure.not_counted), figure.slug


def test_what_is_independent_is_counted_apart(open_script):
    app = open_script(SCRIPT)
    (place,) = app.expander
    assert "25 of 47" in place.label
    lines = opened(open_script).splitlines()
    for word, count in (("independent", 25), ("derived", 14), ("fitted", 8)):
        assert sum(f"| {word} |" in line for line in lines) == count, word


def test_the_table_speaks_chinese(open_script):
    text = opened(open_script, lang="zh")
    for figure in published().values():
        assert figure.title["zh"] in text, figure.slug
