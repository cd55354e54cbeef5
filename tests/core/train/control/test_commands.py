import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.train.control.commands import Command, Inbox, last_acknowledged, send
from core.train.run.disk import RunStorageError
from core.train.run.events import read_events
from core.train.run.store import RunStore


@pytest.fixture
def folder(run_directory):
    """Where commands lie, for files made by hand."""
    (run_directory / "control").mkdir()
    return run_directory / "control"


def test_commands_arrive_once_and_in_order(run_directory):
    inbox = Inbox(run_directory)
    assert inbox.poll() == ()
    assert send(run_directory, "pause") == 1
    assert send(run_directory, "set_learning_rate_multiplier", 0.5, by="teacher") == 2
    assert inbox.poll() == (
        Command(number=1, op="pause", by="page"),
        Command(number=2, op="set_learning_rate_multiplier", value=0.5, by="teacher"),
    )
    assert inbox.poll() == ()
    assert send(run_directory, "set_max_steps_per_second", None) == 3
    assert [command.number for command in inbox.poll()] == [3]


@pytest.mark.parametrize(
    ("op", "value", "sentence"),
    [
        ("explode", None, "'explode' is not a command to a run; use one of: pause, resume"),
        ("pause", 1.0, "command pause takes no value, but '1.0' was given"),
        ("set_learning_rate_multiplier", None, "needs a number from 0 to 100, not 'None'"),
        ("set_learning_rate_multiplier", 100.5, "needs a number from 0 to 100, not '100.5'"),
        ("set_learning_rate_multiplier", -1, "needs a number from 0 to 100"),
        ("set_learning_rate_multiplier", float("nan"), "needs a number from 0 to 100, not 'nan'"),
        ("set_learning_rate_multiplier", "1", "needs a number from 0 to 100"),
        ("set_learning_rate_multiplier", True, "needs a number from 0 to 100"),
        ("set_max_steps_per_second", 0, r"needs a number from 0\.1 to 1000, not '0'"),
        ("set_max_steps_per_second", 10**400, r"needs a number from 0\.1 to 1000"),
    ],
)
def test_a_command_that_makes_no_sense_is_refused_before_it_is_written(
    run_directory, op, value, sentence
):
    with pytest.raises(ValueError, match=sentence):
        send(run_directory, op, value)
    assert not (run_directory / "control").exists()


def test_an_inbox_starts_after_the_last_answered_command(run_directory):
    for op in ("pause", "resume", "stop"):
        send(run_directory, op)
    assert last_acknowledged(read_events(run_directory)) == 0
    with RunStore(run_directory) as store:
        store.append_event("ack", 1, command=2, op="resume", value=None, accepted=True, reason="")
        store.append_event("ack", 1, command="x", op="", value=None, accepted=False, reason="")
    assert last_acknowledged(read_events(run_directory)) == 2
    assert [command.op for command in Inbox(run_directory).poll()] == ["stop"]
    assert [command.op for command in Inbox(run_directory, after=0).poll()] == [
        "pause",
        "resume",
        "stop",
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "Expecting value"),
        ("[1]", "must be a JSON object"),
        ("[" * 4000, "recursion|Expecting"),
        ('{"op": "rm -rf"}', "is not a command"),
        ('{"op": ["stop"]}', "is not a command"),
        ('{"op": "set_max_steps_per_second", "value": NaN}', "needs a number"),
        ('{"op": "set_max_steps_per_second", "value": {}}', "needs a number"),
    ],
)
def test_a_hand_made_file_that_makes_no_sense_says_so_and_the_next_one_still_arrives(
    run_directory, text, error, folder
):
    (folder / "000001.json").write_text(text, encoding="utf-8")
    send(run_directory, "stop")
    bad, good = Inbox(run_directory).poll()
    assert bad.number == 1
    with pytest.raises(ValueError, match=error):
        raise ValueError(bad.error)
    assert good == Command(number=2, op="stop", by="page")


def test_foreign_files_and_gaps_do_not_stop_the_inbox(run_directory, folder):
    for name in ("notes.txt", "1.json", "x.json", "000002.json.tmp", "-00001.json", "０00001.json"):
        (folder / name).write_text("{}", encoding="utf-8")
    (folder / "000040.json").write_text(json.dumps({"op": "pause"}), encoding="utf-8")
    assert send(run_directory, "resume") == 41
    assert [(c.number, c.op) for c in Inbox(run_directory).poll()] == [
        (40, "pause"),
        (41, "resume"),
    ]


@pytest.mark.slow
def test_ten_thousand_commands_arrive_in_order_a_hundred_at_a_time(run_directory, folder):
    for number in range(1, 10_001):
        (folder / f"{number:06d}.json").write_text('{"op":"step"}', encoding="utf-8")
    inbox, got = Inbox(run_directory), []
    while commands := inbox.poll():
        assert len(commands) <= 100
        got += [command.number for command in commands]
    assert got == list(range(1, 10_001))


def test_two_files_made_within_one_tick_of_the_clock_are_both_seen(run_directory):
    inbox = Inbox(run_directory)
    send(run_directory, "pause")
    assert len(inbox.poll()) == 1
    send(run_directory, "resume")
    # The folder's time did not change, as on a file system with a coarse clock.
    inbox._changed = (run_directory / "control").stat().st_mtime_ns
    inbox._next_scan = float("inf")
    assert inbox.poll() == ()
    inbox._next_scan = 0.0
    assert [command.op for command in inbox.poll()] == ["resume"]


def test_senders_at_the_same_time_get_numbers_of_their_own(run_directory):
    with ThreadPoolExecutor(4) as senders:
        numbers = list(senders.map(lambda _time: send(run_directory, "step"), range(80)))
    assert sorted(numbers) == list(range(1, 81))
    assert len(Inbox(run_directory).poll()) == 80


def test_a_run_that_is_gone_is_a_sentence(tmp_path):
    with pytest.raises(RunStorageError, match=r"Cannot write .*control \(No such file"):
        send(tmp_path / "gone", "pause")
