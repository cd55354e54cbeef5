"""Costly work at the push of a button: told while it runs, told when it cannot be done."""

import threading

import pytest

from pages.server.background import jobs
from pages.shared.job import QUICK_FLOPS, in_turn

RUN = """
def work(): {work}
done = run_job("d job", work, doing="Working", failed="That failed", done="All done")
st.text(f"done: {{done}}")
"""


def test_work_that_is_done_says_so(open_script):
    app = open_script(RUN.format(work="return None"))
    assert app.text[0].value == "done: True"
    assert (app.status[0].label, app.status[0].state) == ("All done", "complete")


def test_work_that_fails_is_told_in_its_own_words_and_can_be_tried_again(open_script):
    app = open_script(RUN.format(work='raise ValueError("no room for it")'))
    assert app.text[0].value == "done: False"
    assert (app.status[0].label, app.status[0].state) == ("That failed", "error")
    assert "no room for it" in [each.value for each in app.status[0].markdown]
    assert jobs()._futures["d job"].done()


@pytest.mark.parametrize("waiting", [0, 2])
def test_a_reader_sees_how_far_it_is_or_how_many_come_first(open_script, monkeypatch, waiting):
    def finish(_name, work, look):
        look(waiting)
        work()

    monkeypatch.setattr(type(jobs()), "finish", lambda _self, *asked: finish(*asked))
    app = open_script(
        'run_job("d job", lambda: None, doing="Working", failed="x", '
        'tell=lambda place: place.write("step 7"))'
    )
    said = [each.value for each in app.status[0].markdown]
    assert said == (["2 measurements come first …"] if waiting else ["step 7"])


@pytest.mark.parametrize(("flops", "is_own"), [(QUICK_FLOPS - 1, True), (QUICK_FLOPS, False)])
def test_quick_work_runs_in_the_sessions_own_thread_and_the_rest_in_the_pool(flops, is_own):
    ran = in_turn("d work", threading.current_thread, flops, doing="Working")
    assert (ran is threading.current_thread()) == is_own
    assert ran.name.startswith("costly") != is_own


def test_quick_work_does_not_wait_for_a_pool_that_is_full(monkeypatch):
    monkeypatch.setattr(type(jobs()), "finish", lambda *_asked: pytest.fail("it went to the pool"))
    assert in_turn("d work", lambda: 7, 1.0, doing="Working") == 7
