"""The model that is counted by hand."""

SCRIPT = """
from core.budget.training.scenario import named_scenario
from pages.budget.training_memory.tiny_model import show_tiny_model
show_tiny_model(named_scenario("gpt2", "t4"))
"""


def headline(app):
    assert [each.message for each in app.exception] == []
    return app.session_state["headline"]


def test_the_lectures_model_and_what_torch_keeps(open_script, capsys):
    app = open_script(SCRIPT)
    assert headline(app) == (
        "36 parameters, 496 B, 432 FLOPs by the formulas; autograd keeps 28 values, not 16"
    )
    exec(app.session_state["snippets"]["tiny"], {})  # noqa: S102  our own
    assert capsys.readouterr().out == "36 parameters, 28 values kept\n"


def test_the_sliders_ends_have_a_picture(open_script):
    for size in ("1", "512"):
        app = open_script(SCRIPT, memory_tiny_width=size, memory_tiny_batch=size)
        assert headline(app)
        assert len(app.get("plotly_chart")) == 1
