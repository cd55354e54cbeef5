import os

import pytest

from core.train.run import shelf
from core.train.run.disk import RunStorageError
from core.train.run.shelf import Label, delete, list_runs, newest_run, pin, read_label, rename
from core.train.run.state import RunState, write_state
from core.train.run.store import RunStore


@pytest.fixture
def finished_run(run_directory):
    write_state(run_directory, RunState(state="finished", step=5))
    return run_directory


def test_a_title_is_shown_and_the_directory_keeps_its_name(finished_run):
    (before,) = list_runs(finished_run.parent)
    assert (before.title, before.pinned) == ("One minute", False)
    rename(finished_run, "  Half the\nrate \u202e长 ")
    pin(finished_run)
    (run,) = list_runs(finished_run.parent)
    assert (run.title, run.pinned, run.name) == ("Half the rate 长", True, finished_run.name)
    pin(finished_run, pinned=False)
    assert read_label(finished_run) == Label(title="Half the rate 长")


@pytest.mark.parametrize(
    ("title", "sentence"),
    [("", "at least one visible character"), ("\u202e\n", "visible"), ("x" * 81, "has 81 char")],
)
def test_a_title_that_says_nothing_or_too_much_is_refused(finished_run, title, sentence):
    with pytest.raises(ValueError, match=sentence):
        rename(finished_run, title)
    assert read_label(finished_run) == Label()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"title": 3}', '{"title": [], "pinned": 1}'])
def test_a_damaged_label_is_none(finished_run, text):
    (finished_run / shelf.LABEL_FILE).write_text(text, encoding="utf-8")
    assert read_label(finished_run) == Label()
    (run,) = list_runs(finished_run.parent)
    assert run.title == "One minute"


def test_a_deleted_run_is_gone_with_all_that_was_in_it(finished_run, make_run):
    other = make_run("20260101t000000z-other-0001")
    write_state(other, RunState(state="stopped"))
    left = finished_run.with_name(".deleted-20250101t000000z-half-0001")
    left.mkdir()
    delete(finished_run)
    assert [path.name for path in finished_run.parent.iterdir()] == [other.name]


def test_a_run_that_is_being_trained_is_not_deleted(finished_run, living_worker):
    for name in ("running", "paused", "starting"):
        write_state(finished_run, RunState(state=name, pid=1))
        with (
            living_worker(finished_run),
            pytest.raises(ValueError, match="still being trained; stop it, then delete it"),
        ):
            delete(finished_run, force=True)
    assert finished_run.exists()
    delete(finished_run)  # its worker is gone: it has crashed
    assert not finished_run.exists()


def test_a_worker_that_is_just_ending_is_waited_for(finished_run, living_worker):
    with living_worker(finished_run), pytest.raises(ValueError, match="still being trained"):
        delete(finished_run)


def test_a_pinned_run_is_deleted_by_force_only(finished_run):
    pin(finished_run)
    with pytest.raises(ValueError, match="is pinned; unpin it, or delete it with --force"):
        delete(finished_run)
    delete(finished_run, force=True)
    assert not finished_run.exists()


def test_only_runs_can_be_touched(tmp_path, finished_run):
    precious = tmp_path / "precious"
    precious.mkdir()
    for change in (delete, pin, lambda path: rename(path, "x")):
        with pytest.raises(ValueError, match="is not the name of a run"):
            change(precious)
        with pytest.raises(FileNotFoundError, match="may have been deleted"):
            change(finished_run.with_name("20260101t000000z-gone-0001"))
    link = finished_run.with_name("20260101t000000z-link-0001")
    link.symlink_to(precious, target_is_directory=True)
    with pytest.raises(FileNotFoundError, match="There is no run"):
        delete(link)
    assert precious.is_dir()


def test_a_folder_that_refuses_is_a_sentence(finished_run, fails):
    fails("pathlib.Path.rename", PermissionError(13, "Permission denied"))
    with pytest.raises(RunStorageError, match=r"Cannot write .* \(Permission denied\)"):
        delete(finished_run)
    fails("core.train.run.shelf.write_atomically", PermissionError(13, "Permission denied"))
    with pytest.raises(RunStorageError, match=r"label.json \(Permission denied\)"):
        pin(finished_run)


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


def test_a_run_whose_steps_are_not_ours_is_reported_and_never_the_newest(make_run, write_steps):
    good, bad = make_run(OLD), make_run(NEW)
    write_steps(bad, [1])
    metrics = bad / "metrics.bin"
    metrics.write_bytes(b"XXXXXXXX" + metrics.read_bytes()[8:])
    damaged, sound = list_runs(good.parent)
    assert (damaged.name, sound.error) == (NEW, "")
    assert "metrics.bin is not a metrics file of this app" in damaged.error
    assert newest_run(good.parent) == OLD


def test_what_does_not_bear_a_runs_name_is_not_looked_at(make_run):
    folder = make_run(OLD).parent
    (folder / "holiday").mkdir()
    (folder / NEW).write_text("a file", encoding="utf-8")
    if os.name != "nt":
        (folder / "20260103t000000z-link-0003").symlink_to("/", target_is_directory=True)
    assert [run.name for run in list_runs(folder)] == [OLD]
