"""The page of the low-precision labs: every lab, its number, its code, its extremes."""

import numpy as np
import pytest

from core.train.learning.tensors import GradientSample
from pages.dtypes.low_precision_training import loss_scale as lab
from pages.server.background import jobs
from tests.app.shown import captions, headline
from tests.pages.server.test_background import is_running

KEY = "dtypes/low_precision_training"
SCALER = {"lowp_tab": "scale", "lowp_scale_by": "scaler"}
MANY = {"lowp_tab": "updates", "lowp_update_way": "stochastic"}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"lowp_sum_format": "float16", "lowp_sum_term": "0.1", "lowp_sum_count": "10000"},
         "10,000 × 0.1 in FP16 = 256, not 1,000"),
        ({"lowp_sum_term": "0.1", "lowp_sum_count": "10000"},
         "10,000 × 0.1 in BF16 = 32, not 1,000"),
        ({"lowp_sum_format": "float16", "lowp_sum_count": "4096"},
         "4,096 × 1 in FP16 = 2,048, not 4,096"),
        ({"lowp_sum_order": "float32_then_cast"}, "1,000 × 1 in BF16 = 1,000: nothing is lost"),
        ({"lowp_sum_order": "pairwise", "lowp_sum_format": "float8_e4m3fn"},
         "in E4M3 overflows: the sum is NaN"),
        ({"lowp_sum_order": "pairwise", "lowp_sum_term": "0.1", "lowp_sum_format": "float8_e5m2"},
         "off by"),
        ({"lowp_sum_count": "10000", "lowp_sum_stochastic": "true"},
         "10,000 × 1 in BF16 = 9,856, not 10,000: off by 1.44 %"),
        ({"lowp_tab": "updates", "lowp_update_size": "0.01"}, "ends at"),
        ({"lowp_tab": "updates", "lowp_update_size": "0.0001", "lowp_update_steps": "10",
          "lowp_update_way": "master"},
         "the FP32 master has come to 1.001, its copy in BF16 stays 1. Half the gap is 0.00391"),
        ({**MANY, "lowp_update_weights": "1"}, "1.891 for 1 weight. Exact is 2"),
        ({"lowp_tab": "softmax", "lowp_softmax_logit": "5"}, "in FP16 is 148.38, which fits"),
        ({"lowp_tab": "softmax", "lowp_softmax_logit": "11"}, "the sum overflows (inf)"),
        ({"lowp_tab": "softmax", "lowp_softmax_logit": "-20"}, "is 0, like all the others"),
        ({"lowp_tab": "scale", "lowp_scale_source": "single"}, "the gradient is lost"),
        ({"lowp_tab": "scale", "lowp_scale_source": "single", "lowp_scale_power": "8"},
         "subnormal"),
        ({"lowp_tab": "scale", "lowp_scale_source": "single", "lowp_scale_power": "32",
          "lowp_scale_format": "float8_e4m3fn"}, "1e-8 × 4,294,967,296 in E4M3 is 44"),
        ({**SCALER, "lowp_scaler_interval": "2000", "lowp_scaler_step": "20",
          "lowp_scaler_first": "0.01"}, "Clean steps in a row: 20 of 2,000."),
    ],
)  # fmt: skip
def test_the_headline_says_what_the_lab_shows(open_page, query, said):
    assert said in headline(open_page(KEY, **query))


def test_the_buttons_walk_through_the_steps_of_the_scaler(open_page):
    app = open_page(KEY, **SCALER)
    assert app.button(key="lowp_scaler_back").disabled

    app.button(key="lowp_scaler_forward").click().run()
    assert headline(app).startswith("Step 2: ")
    app.button(key="lowp_scaler_back").click().run()
    assert headline(app).startswith("Step 1: ")
    app.slider(key="lowp_scaler_step").set_value(60).run()
    assert app.button(key="lowp_scaler_forward").disabled


@pytest.fixture
def no_kept_gradients():
    """Forget what another test has computed."""
    lab._kept().clear()
    yield
    lab._kept().clear()


def test_real_gradients_are_asked_for_once_and_named(open_page, monkeypatch, no_kept_gradients):
    asked = []

    def measure(run):
        asked.append(run)
        tensors = {"tokens.weight": np.float32([1e-9]), "hidden.0": np.float32([1e-3])}
        return GradientSample(run="", step=0, loss=4.6, tensors=tensors)

    monkeypatch.setattr(lab, "measure_gradients", measure)
    for power in ("0", "4"):
        app = open_page(KEY, lowp_tab="scale", lowp_scale_source="real", lowp_scale_power=power)
        assert "50 % of the gradients keep full precision" in headline(app)
    assert asked == [None]
    one = {"lowp_scale_source": "real", "lowp_scale_tensor": "hidden.0"}
    app = open_page(KEY, lowp_tab="scale", **one)
    assert "100 % of the gradients keep" in headline(app)
    assert "measure_gradients(run).tensors['hidden.0']" in app.session_state["snippets"]["scale"]
    assert any("a fresh small GPT" in text for text in captions(app))


def test_the_gradients_of_a_run_bear_its_name(open_page, monkeypatch, no_kept_gradients, tmp_path):
    run = tmp_path / "20260102t030405z-one-minute-00ff"
    sample = GradientSample(
        run=run.name, step=40, loss=2.0, tensors={"tokens.weight": np.ones(4, np.float32)}
    )
    monkeypatch.setattr(lab, "newest_trained_run", lambda: run)
    monkeypatch.setattr(lab, "newest_checkpoint", lambda run: run / "step-00000040.pt")
    monkeypatch.setattr(lab, "measure_gradients", lambda _run: sample)
    app = open_page(KEY, lowp_tab="scale", lowp_scale_source="real")
    headline(app)
    assert any(f"run {run.name} at step 40" in text for text in captions(app))
    assert f"runs_directory() / {run.name!r}" in app.session_state["snippets"]["scale"]


def test_a_child_that_fails_is_explained_and_replaced(open_page, monkeypatch, no_kept_gradients):
    def fail(_run):
        raise ValueError("The gradients could not be computed: no memory")

    monkeypatch.setattr(lab, "measure_gradients", fail)
    app = open_page(KEY, lowp_tab="scale", lowp_scale_source="real")

    assert "2.38 % become zero" in headline(app)
    assert "no memory" in app.warning[0].value
    assert "Synthetic gradients are shown instead" in app.warning[0].value
    assert not is_running(jobs(), "gradients of a fresh GPT")
