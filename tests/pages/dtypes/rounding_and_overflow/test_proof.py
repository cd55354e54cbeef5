"""The button that proves: progress, result, failure; the proof itself runs in test_proof_run.py."""

from dataclasses import replace

import pytest

from core.dtypes import FORMATS
from core.dtypes.libraries.oracles import SPECIFICATION
from core.dtypes.libraries.proof import prove_back
from core.dtypes.libraries.proof_rows import ProofRow, proof_table, summary_of
from pages.dtypes.rounding_and_overflow import proof
from pages.shared import job

BACK = replace(prove_back(FORMATS["int4"]), seconds=1.0)
ENCODE = ProofRow(
    format="int4",
    oracle=SPECIFICATION,
    direction="encode",
    num_inputs=100,
    represents=2**32,
    num_mismatches=0,
    num_known=7,
    reasons=("the format has no NaN, so that what becomes of one is not defined",),
    seconds=1.0,
)
CONTROL = replace(BACK, is_control=True, num_mismatches=3, first_mismatch="1 -> 2, not 3")


@pytest.fixture(autouse=True)
def nothing_proved():
    proof.shared.clear()


def prove_with(monkeypatch, rows):
    def run(on_row):
        for row in rows:
            on_row(row)
        return rows

    monkeypatch.setattr(proof, "run_proof", run)


def push(app):
    return app.button(key="rounding_prove").click().run()


def test_before_the_first_proof_the_page_says_so(open_tab):
    app = open_tab("proof")

    assert app.session_state["headline"].endswith("not run here yet")
    assert app.button(key="rounding_prove").label == "Prove it on this machine"


def test_the_button_proves_and_the_result_is_for_everybody(
    open_tab, monkeypatch, numbers_of, texts
):
    prove_with(monkeypatch, (BACK, ENCODE, CONTROL))
    app = push(open_tab("proof"))

    assert "**0 mismatches.** 116 numbers and codes were really tried." in texts(app)
    assert "was caught 1 times" in texts(app)
    [line] = numbers_of(app, "rounding_proof_chart")
    assert line == f"int4 | 0 | 100 | 16 | {SPECIFICATION} | 7 | 0"
    [chart] = app.get("plotly_chart")
    assert chart.proto.alt == (
        "1 formats, 2 comparisons: 0 with mismatches, 1 with known library errors only."
    )
    again = open_tab("proof")
    assert again.session_state["headline"] == (
        "0 mismatches in 2 comparisons of 1 formats, in 3.00 s"
    )


def test_a_mismatch_is_not_hidden(open_tab, monkeypatch, texts):
    prove_with(monkeypatch, (replace(BACK, num_mismatches=2), replace(CONTROL, num_mismatches=0)))
    app = push(open_tab("proof"))

    assert "**The proof failed.** 2 mismatches; 1 deliberate errors were missed." in texts(app)


def test_a_child_that_fails_is_told_in_a_sentence(open_tab, monkeypatch, texts):
    def fail(_on_row):
        raise ValueError("The program core.dtypes.libraries.proof failed: no torch")

    monkeypatch.setattr(proof, "run_proof", fail)
    app = push(open_tab("proof"))

    assert "The program core.dtypes.libraries.proof failed: no torch" in texts(app)
    assert proof.shared().last == ()


def test_progress_names_the_format(open_script):
    proof.shared().running = [BACK, ENCODE]
    app = open_script("from pages.dtypes.rounding_and_overflow.proof import tell\ntell(st.empty())")

    [bar] = app.get("progress")
    assert bar.proto.text == "2 comparisons done, now int4 …"
    assert 0 < bar.proto.value < 100


def test_who_comes_first_is_told(open_tab, monkeypatch, texts):
    class Crowded:
        def finish(self, _name, _work, look):
            look(3)
            raise ValueError("enough")

    monkeypatch.setattr(job, "jobs", Crowded)

    assert "3 measurements come first …" in texts(push(open_tab("proof")))


def test_on_a_projector_the_sentences_stand_below_the_picture(open_tab, monkeypatch, texts):
    prove_with(monkeypatch, (BACK, ENCODE, CONTROL))
    app = push(open_tab("proof", present="1"))

    assert "**0 mismatches.**" in texts(app)
    assert "Rounding looks at the sign" not in texts(app)


def test_a_summary_counts_what_was_tried():
    found = summary_of([BACK, ENCODE, CONTROL])
    assert (found.num_formats, found.num_comparisons, found.num_tried) == (1, 2, 116)
    assert (found.num_controls, found.num_missed_controls, found.seconds) == (1, 0, 3.0)
    assert proof_table([BACK, ENCODE, CONTROL])["asked"] == [SPECIFICATION]
