import pytest

from core.train import shelf
from core.train.disk import RunStorageError
from core.train.listing import list_runs
from core.train.shelf import Label, delete, pin, read_label, rename
from core.train.state import RunState, write_state


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


def test_a_folder_that_refuses_is_a_sentence(finished_run, monkeypatch):
    def refuse(*_arguments, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.rename", refuse)
    with pytest.raises(RunStorageError, match=r"Cannot write .* \(Permission denied\)"):
        delete(finished_run)
    monkeypatch.setattr(shelf, "write_atomically", refuse)
    with pytest.raises(RunStorageError, match=r"label.json \(Permission denied\)"):
        pin(finished_run)
