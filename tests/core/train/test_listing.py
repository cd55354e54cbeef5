import os

import pytest

from core.train.listing import list_runs, newest_run
from core.train.store import RunStore

OLD, NEW = "20260101t000000z-old-0001", "20260102t000000z-new-0002"


def test_runs_are_listed_newest_first_with_what_they_are_doing(make_run):
    make_run(OLD, created=1.0, config={"name": "Old", "num_steps": 10})
    directory = make_run(NEW, created=2.0, config={"name": "New", "num_steps": 20})
    with RunStore(directory) as store:
        store.write_state("finished", step=20)
    new, old = list_runs(directory.parent)
    assert (new.name, new.title, new.state) == (NEW, "New", "finished")
    assert (new.step, new.num_steps, new.created, new.error) == (20, 20, 2.0, "")
    assert (old.name, old.state, old.step, old.num_steps) == (OLD, "crashed", 0, 10)
    assert newest_run(directory.parent) == NEW


def test_a_damaged_run_is_reported_and_the_others_stay(make_run):
    good, bad = make_run(OLD), make_run(NEW)
    (bad / "run.json").write_text("{", encoding="utf-8")
    damaged, sound = list_runs(good.parent)
    assert damaged.name == NEW
    assert "damaged" in damaged.error
    assert (sound.name, sound.error) == (OLD, "")
    assert newest_run(good.parent) == OLD


def test_a_run_whose_steps_are_not_ours_is_reported_and_never_the_newest(make_run, make_record):
    good, bad = make_run(OLD), make_run(NEW)
    with RunStore(bad) as store:
        store.append_step(make_record(1))
    metrics = bad / "metrics.bin"
    metrics.write_bytes(b"XXXXXXXX" + metrics.read_bytes()[8:])
    damaged, sound = list_runs(good.parent)
    assert (damaged.name, sound.error) == (NEW, "")
    assert "metrics.bin is not a metrics file of this app" in damaged.error
    assert newest_run(good.parent) == OLD


def test_two_runs_of_one_second_are_told_apart_by_their_exact_time(make_run):
    first = make_run("20260101t000000z-b-0001", created=1.25)
    make_run("20260101t000000z-a-0002", created=1.75)
    assert newest_run(first.parent) == "20260101t000000z-a-0002"
    assert [run.created for run in list_runs(first.parent)] == [1.75, 1.25]


def test_what_does_not_bear_a_runs_name_is_not_looked_at(make_run):
    folder = make_run(OLD).parent
    (folder / "holiday").mkdir()
    (folder / NEW).write_text("a file", encoding="utf-8")
    if os.name != "nt":
        (folder / "20260103t000000z-link-0003").symlink_to("/", target_is_directory=True)
    assert [run.name for run in list_runs(folder)] == [OLD]


@pytest.mark.parametrize("made", [True, False])
def test_an_empty_or_missing_directory_has_no_runs(tmp_path, made):
    folder = tmp_path / "runs"
    if made:
        folder.mkdir()
    assert list_runs(folder) == ()
    assert newest_run(folder) is None


def test_a_run_with_odd_settings_is_still_listed(make_run):
    directory = make_run(OLD, config={"name": None, "num_steps": "many"})
    (run,) = list_runs(directory.parent)
    assert (run.title, run.num_steps, run.error) == ("None", 0, "")
