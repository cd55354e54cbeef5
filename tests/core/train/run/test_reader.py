import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from core.train.run.directory import DamagedRunError
from core.train.run.reader import RunReader
from core.train.run.store import RunStore


def test_a_run_that_has_only_been_described_is_empty_and_starting(make_run):
    directory = make_run(created=time.time())
    reader = RunReader(directory)
    increment = reader.read_new()
    assert (len(increment.records), increment.events) == (0, ())
    assert reader.read_state().state == "starting"


def test_each_record_and_event_comes_exactly_once(run_directory, make_record):
    reader, looks = RunReader(run_directory), []
    with RunStore(run_directory) as store:
        for step in range(1, 50):
            store.append_step(make_record(step))
            if step % 3 == 0:
                store.append_event("eval", step, validation_loss=1.0)
            if step % 7 == 0:
                looks.append(reader.read_new())
        looks.append(reader.read_new())
    assert [step for look in looks for step in look.records["step"]] == list(range(1, 50))
    assert [event["seq"] for look in looks for event in look.events] == list(range(16))


def test_bytes_that_arrive_in_pieces_of_any_size_give_whole_records_only(
    run_directory, make_record
):
    with RunStore(run_directory) as store:
        for step in range(1, 30):
            store.append_step(make_record(step, loss=float(step)))
            store.append_event("finding", step, message="长" * step)
    files = {name: run_directory / name for name in ("metrics.bin", "events.jsonl")}
    wholes = {name: path.read_bytes() for name, path in files.items()}
    pieces = np.random.default_rng(0)
    for path in files.values():
        path.write_bytes(b"")
    reader, steps, texts = RunReader(run_directory), [], []
    sent = dict.fromkeys(files, 0)
    while any(sent[name] < len(wholes[name]) for name in files):
        for name, path in files.items():
            until = sent[name] + int(pieces.integers(0, 120))
            with path.open("ab") as file:
                file.write(wholes[name][sent[name] : until])
            sent[name] = min(until, len(wholes[name]))
        increment = reader.read_new()
        assert increment.num_damaged == 0
        assert np.array_equal(increment.records["loss"], increment.records["step"])
        steps += increment.records["step"].tolist()
        texts += [event["message"] for event in increment.events]
    assert steps == list(range(1, 30))
    assert texts == ["长" * step for step in range(1, 30)]


def test_a_reader_beside_a_writing_thread_sees_every_step_in_order(run_directory, write_steps):
    reader, steps = RunReader(run_directory), []
    with ThreadPoolExecutor() as writer:
        writing = writer.submit(write_steps, run_directory, range(1, 3001))
        while not writing.done():
            steps += reader.read_new().records["step"].tolist()
    writing.result()
    steps += reader.read_new().records["step"].tolist()
    assert steps == list(range(1, 3001))


def test_a_spoilt_record_or_line_is_left_out_and_counted_and_the_rest_stays(
    run_directory, make_record
):
    with RunStore(run_directory) as store:
        for step in (1, 2, 3):
            store.append_step(make_record(step))
            store.append_event("eval", step, validation_loss=1.0)
    path = run_directory / "metrics.bin"
    data = bytearray(path.read_bytes())
    data[64 + 80 + 20] ^= 1
    path.write_bytes(data)
    lines = (run_directory / "events.jsonl").read_bytes().splitlines()
    lines[1] = b'{"kind": '
    lines.insert(2, b"[" * 100_000)
    (run_directory / "events.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    increment = RunReader(run_directory).read_new()
    assert increment.records["step"].tolist() == [1, 3]
    assert [event["seq"] for event in increment.events] == [0, 2]
    assert increment.num_damaged == 3


def test_an_unfinished_record_at_the_end_waits_until_a_resume_has_cut_it_off(
    run_directory, write_steps
):
    write_steps(run_directory, [1])
    with (run_directory / "metrics.bin").open("ab") as file:
        file.write(bytes(80))
    reader = RunReader(run_directory)
    assert reader.read_new().records["step"].tolist() == [1]
    write_steps(run_directory, [2], attempt=2)
    assert reader.read_new().records["step"].tolist() == [2]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"run\.json cannot be read \(it is not JSON\)"),
        ('{"format_version": 1', r"cannot be read \(it is not JSON\)"),
        ("[" * 100_000, r"cannot be read \(it is not JSON\)"),
        ("[]", "does not describe a run of this app"),
        ('{"format_version": 1, "created": 0}', "does not describe a run"),
        ('{"format_version": 1, "config": {}, "created": NaN}', "does not describe a run"),
        ('{"format_version": 1, "config": {}, "created": 1e300}', "does not describe a run"),
        ('{"format_version": 2}', r"has format 2, written by a newer.*formats up to 1\. Update"),
    ],
)
def test_a_damaged_or_newer_run_is_refused_with_a_sentence(run_directory, text, sentence):
    (run_directory / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(DamagedRunError, match=sentence) as refused:
        RunReader(run_directory)
    assert str(refused.value).startswith(f"{run_directory.name}/run.json ")  # not the whole path


def test_a_deleted_directory_has_nothing_new(run_directory, write_steps):
    write_steps(run_directory, [1])
    reader = RunReader(run_directory)
    reader.read_new()
    shutil.rmtree(run_directory)
    assert len(reader.read_new().records) == 0
    assert reader.read_state().state == "crashed"
    assert not run_directory.exists()
