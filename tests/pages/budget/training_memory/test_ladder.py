"""The ladder as a guided tour."""

from core.budget.comparison.rederived import ladder

SCRIPT = """
from core.budget.training.scenario import named_scenario
from pages.budget.training_memory.ladder import show_ladder
show_ladder(named_scenario("gpt2", "t4"))
"""


def headline(app):
    assert [each.message for each in app.exception] == []
    return app.session_state["headline"]


def words(app):
    return " ".join(each.value for each in (*app.markdown, *app.caption))


def test_the_tour_begins_where_ours_begins(open_script):
    app = open_script(SCRIPT)
    assert headline(app).startswith(
        f"Rung 2 of {len(ladder())}, Every sequence filled up to 4096 tokens: measured 60.0 GiB"
    )
    (chart,) = app.get("plotly_chart")
    assert "LoRA of rank 64 instead: 8.50 GiB, ours" in chart.proto.alt
    assert "torchtune, README.md" in words(app)


def test_every_rung_has_its_sentence_and_its_reason(open_script):
    for place, rung in enumerate(ladder()):
        app = open_script(SCRIPT, memory_rung=rung.slug)
        assert headline(app).startswith(f"Rung {place + 1} of "), rung.slug
        assert rung.published.note["en"] in words(app), rung.slug
        assert ("By our rules, from the rung above" in words(app)) == (place > 1), rung.slug
        assert len(app.metric) == (rung.ours is not None), rung.slug


def test_the_buttons_walk_and_stop_at_the_ends(open_script):
    app = open_script(SCRIPT, memory_rung="baseline")
    assert app.button(key="memory_rung_up").disabled
    app.button(key="memory_rung_down").click().run()
    assert headline(app).startswith("Rung 2 of ")
    end = open_script(SCRIPT, memory_rung="qlora")
    assert end.button(key="memory_rung_down").disabled


def test_chinese(open_script):
    assert headline(open_script(SCRIPT, lang="zh")).startswith("第 2 级，共 10 级，")
