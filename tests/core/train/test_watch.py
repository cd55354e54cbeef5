"""A loop of the reader's own: what it writes down is a run, and it does what the page asks for."""

import inspect
import json
import math
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from core.train import watch as room
from core.train.config import TrainConfig, config_of_run
from core.train.control.commands import send
from core.train.learning.opened import open_run
from core.train.learning.tensors import newest_checkpoint
from core.train.run import records
from core.train.run.directory import SNAPSHOT_FILE
from core.train.run.reader import RunReader
from core.train.run.shelf import list_runs
from core.train.run.state import KILLED_WATCHED, read_state, state_sentence
from core.train.start.fork import find_parent
from core.train.start.launch import resume_run
from core.train.watch import Watch, predicted_state_bytes

PROGRAM, CALLBACK, OF_LIGHTNING = (
    textwrap.dedent(block)
    for block in re.findall(r"((?:^(?:    .*)?\n)+)", inspect.getdoc(room) or "", re.MULTILINE)
    if "import" in block
)
ALONE = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}


def run_alone(folder, program, **more):
    """Run a program in a folder that holds the one file and nothing else of this project."""
    shutil.copy(room.__file__, folder / "watch.py")
    (folder / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "program.py"]
    return subprocess.run(
        command, cwd=folder, env=ALONE, capture_output=True, text=True, check=False, **more
    )


def only_run(folder):
    (run,) = list_runs(folder / "runs")
    assert not run.error
    return run


@pytest.fixture
def loop(tmp_path, monkeypatch):
    """Return a loop: loop.watch, loop.model, loop.optimizer and loop(n), which does n steps.

    Each step is written down at once.
    """
    monkeypatch.setattr(room, "TELL_SECONDS", 0)
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    watch = Watch(
        model, optimizer, runs=tmp_path / "runs", name="Mine", tokens_per_step=8, memory_every=2
    )

    def steps(number=1, **told):
        for _number in range(number):
            loss = model(torch.ones(2, 4)).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if not watch.step(loss, **told):
                return False
        return True

    yield SimpleNamespace(watch=watch, model=model, optimizer=optimizer, steps=steps)
    watch.close()


def ask(loop, op, value=None):
    """Send a command as the page does; the loop hears it at its next step."""
    number = send(loop.watch.directory, op, value)
    loop.watch._look_at = 0.0
    return number


def events(loop, kind):
    found = RunReader(loop.watch.directory).read_new().events
    return [event for event in found if event["kind"] == kind]


def written(loop):
    return RunReader(loop.watch.directory).read_new().records


def test_a_record_has_the_layout_that_the_readers_know():
    assert records.pack_header() == room.HEADER
    fields = (7, 1e9, 0.5, 2.5, 1e-3, 1.5, 2e4, 300 << 20, 1, 0)
    buffer = bytearray(records.RECORD.size)
    record = records.StepRecord(*(), **dict(zip(records.COLUMNS, fields, strict=True)))
    records.pack_record(buffer, record, attempt=1)
    packed = room.FIELDS.pack(*fields)
    assert packed + room.CHECKSUM.pack(room.zlib.crc32(packed)) == bytes(buffer)
    assert room.NON_FINITE == records.NON_FINITE


def test_the_example_runs_with_the_one_file_alone_and_every_reader_opens_its_run(tmp_path):
    done = run_alone(tmp_path, PROGRAM)
    assert (done.returncode, done.stderr) == (0, "")
    run = only_run(tmp_path)
    assert (run.state, run.step, run.num_steps, run.title) == ("finished", 20, 20, "A line")
    increment = RunReader(run.directory).read_new()
    assert increment.num_damaged == 0
    assert increment.records["step"].tolist() == list(range(1, 21))
    assert np.isfinite(increment.records["grad_norm"][0])
    assert set(increment.records["learning_rate"]) == {0.01}
    assert (increment.records["resident_bytes"] > 10 << 20).all()
    lines = list(records.csv_lines(increment.records))
    assert len("".join(lines).splitlines()) == 21
    assert not [path.name for path in run.directory.glob("*.tmp")]


def test_memory_stands_beside_what_was_predicted_of_it(loop):
    loop.steps(4)
    (*_, last) = events(loop, "memory")
    predicted = RunReader(loop.watch.directory).info["prediction"]["memory"]
    assert last["step"] == 4
    assert {name: last[name] for name in predicted} == predicted
    assert predicted == {"weights": 20, "gradients": 20, "optimizer": 0}
    assert last["activations"] is None


@pytest.mark.parametrize(
    "make",
    [
        lambda weights: torch.optim.AdamW(weights, lr=0.1),
        lambda weights: torch.optim.AdamW(weights, lr=0.1, amsgrad=True, foreach=True),
        lambda weights: torch.optim.SGD(weights, lr=0.1, momentum=0.9),
        lambda weights: torch.optim.RMSprop(weights, lr=0.1, centered=True),
        lambda weights: torch.optim.Adagrad(weights, lr=0.1),
    ],
)
def test_the_states_that_an_optimizer_will_hold_are_known_before_its_first_step(make):
    model = nn.Linear(8, 4)
    model.bias.requires_grad_(requires_grad=False)
    optimizer = make(model.parameters())
    predicted = predicted_state_bytes(optimizer)
    model(torch.ones(1, 8)).sum().backward()
    optimizer.step()
    held = [t for state in optimizer.state.values() for t in state.values()]
    assert predicted == sum(t.nbytes for t in held if torch.is_tensor(t))


def test_of_an_optimizer_that_needs_more_than_gradients_nothing_is_predicted():
    for kind in (torch.optim.LBFGS, torch.optim.Adafactor):
        assert predicted_state_bytes(kind(nn.Linear(2, 1).parameters())) is None, kind


@pytest.mark.parametrize(
    ("numbers", "steps"),
    [(range(1, 8), [1, 2, 4, 6]), ((1, 4, 7, 10), [1, 2, 5, 8]), ((0, 0, 1, 2, 3, 4), [1, 2, 4])],
    ids=["each", "every third is told", "two updates before the first is told"],
)
def test_memory_is_noted_at_the_first_update_and_then_where_it_is_due(loop, numbers, steps):
    for number in numbers:
        loop.steps(1, step=number)
    assert [event["step"] for event in events(loop, "memory")] == steps


def test_a_norm_that_is_passed_is_the_one_before_clipping(loop):
    loop.steps(1)
    loop.steps(1, grad_norm=torch.tensor(7.5))
    first, second = written(loop)["grad_norm"]
    assert first > 0
    assert second == 7.5


def test_a_loss_that_is_not_finite_is_marked(loop):
    loop.watch.step(float("nan"))
    assert written(loop)["flags"].tolist() == [records.NON_FINITE]


def test_a_text_and_a_validation_loss_are_events(loop):
    loop.watch.sample("a text", prompt="once")
    loop.watch.validation(torch.tensor(1.5))
    assert events(loop, "sample")[0]["text"] == "a text"
    assert events(loop, "eval")[0]["validation_loss"] == 1.5


def test_the_multiplier_is_in_the_update_and_no_scheduler_sees_it(loop):
    scheduler = torch.optim.lr_scheduler.ExponentialLR(loop.optimizer, 0.5)
    ask(loop, "set_learning_rate_multiplier", 10.0)
    loop.steps(1)
    scheduler.step()
    loop.steps(1)
    assert loop.optimizer.param_groups[0]["lr"] == 0.05
    assert written(loop)["learning_rate"].tolist() == [0.1, 0.5]
    (ack,) = events(loop, "ack")
    assert (ack["command"], ack["step"], ack["value"], ack["accepted"]) == (1, 2, 10.0, True)
    assert read_state(loop.watch.directory).learning_rate_multiplier == 10.0


def test_it_pauses_takes_one_step_goes_on_and_stops_when_it_is_told_to(loop):
    ask(loop, "pause")
    trained = threading.Thread(target=loop.steps, args=(3,))
    trained.start()
    directory = loop.watch.directory

    def wait_for(state, step):
        until = time.monotonic() + 60
        while (now := read_state(directory)).state != state or now.step != step:
            assert time.monotonic() < until, (now.state, now.step)
            time.sleep(0.01)

    wait_for("paused", 1)
    send(directory, "step")
    wait_for("paused", 2)
    send(directory, "resume")
    trained.join(60)
    ask(loop, "stop")
    assert loop.steps(2) is False
    assert loop.watch.should_stop
    loop.watch.close()
    assert read_state(directory).state == "stopped"
    assert [event["op"] for event in events(loop, "ack")] == ["pause", "step", "resume", "stop"]
    states = [event["state"] for event in events(loop, "state")]
    assert states == ["running", "paused", "running", "stopping", "stopped"]


def test_a_command_that_it_cannot_follow_is_refused_with_a_reason(loop):
    ask(loop, "go_back")
    (loop.watch.directory / "control" / "000002.json").write_text("nonsense")
    (loop.watch.directory / "control" / "000003.json").write_text(
        json.dumps({"op": "set_max_steps_per_second", "value": 1e9})
    )
    loop.steps(1)
    acks = events(loop, "ack")
    assert [ack["accepted"] for ack in acks] == [False] * 3
    assert all(ack["reason"] for ack in acks)


def test_a_memory_snapshot_is_of_the_next_step_of_a_loop_on_a_gpu(loop, monkeypatch):
    asked, memory = [], torch.cuda.memory
    monkeypatch.setattr(memory, "_record_memory_history", lambda **each: asked.append(each))
    monkeypatch.setattr(memory, "_dump_snapshot", lambda path: Path(path).write_bytes(b"snapshot"))
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda _device: 0)
    file = loop.watch.directory / SNAPSHOT_FILE
    ask(loop, "snapshot")
    loop.steps(1)
    assert asked == []
    loop.watch._device = torch.device("cuda")
    ask(loop, "snapshot")
    loop.steps(1)
    assert asked == [{"max_entries": room.MOST_RECORDED}]
    assert not file.exists()
    loop.steps(3)
    assert asked == [{"max_entries": room.MOST_RECORDED}, {"enabled": None}]
    assert file.read_bytes() == b"snapshot"
    assert [ack["accepted"] for ack in events(loop, "ack")] == [False, True]
    assert loop.watch._state["state"] == "running"


def test_the_speed_limit_makes_a_step_last(loop):
    ask(loop, "set_max_steps_per_second", 5.0)
    loop.steps(1)
    began = loop.watch._last
    loop.steps(1)
    assert loop.watch._last - began > 0.15


def test_a_program_that_was_killed_is_shown_as_crashed_and_nobody_resumes_it(tmp_path):
    program = PROGRAM.replace("optimizer.zero_grad()", "_step == 9 and os._exit(9)")
    assert run_alone(tmp_path, "import os\n" + program).returncode == 9
    run = only_run(tmp_path)
    state = read_state(run.directory)
    assert (state.state, state.message) == ("crashed", KILLED_WATCHED)
    assert "resume" not in state_sentence(state)
    for refused in (resume_run, find_parent, newest_checkpoint, lambda run: open_run(run, 0)):
        with pytest.raises(ValueError, match="loop of its own"):
            refused(run.directory)
    with pytest.raises(ValueError, match="loop of its own"):
        config_of_run(run.info)


def test_an_exception_that_ends_the_program_is_told_without_a_with(tmp_path):
    program = PROGRAM.replace("optimizer.zero_grad()", "assert _step < 5, 'too far'")
    assert run_alone(tmp_path, program).returncode == 1
    run = only_run(tmp_path)
    assert run.state == "failed"
    assert state_sentence(read_state(run.directory)) == "AssertionError: too far"


def test_a_disk_that_refuses_ends_the_watching_and_not_the_training(loop):
    loop.steps(1)
    shutil.rmtree(loop.watch.directory)
    loop.watch._state_at = -1e9
    with pytest.warns(UserWarning, match="no longer written"):
        assert loop.steps(3)
    assert loop.steps(3)


def test_the_callback_of_the_example_watches_a_trainer_of_hugging_face(tmp_path, monkeypatch):
    from transformers import TrainerControl, TrainerState
    from transformers.trainer_callback import CallbackHandler

    monkeypatch.setenv("B2G_RUNS_DIR", str(tmp_path / "runs"))
    names = {"Watch": Watch}
    told = CALLBACK.replace("from watch import Watch", "").replace('runs="runs", ', "")
    exec(told, names)  # noqa: S102  the example itself
    model = nn.Linear(2, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    handler = CallbackHandler([names["Watched"]()], model, None, optimizer, None)
    state, control, arguments = TrainerState(max_steps=3), TrainerControl(), SimpleNamespace()
    control = handler.on_train_begin(arguments, state, control)
    for step in (1, 2):
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        state.global_step = step
        control = handler.on_log(arguments, state, control, {"loss": 2.0, "grad_norm": 0.5})
    assert not control.should_training_stop
    send(only_run(tmp_path).directory, "stop")
    time.sleep(room.LOOK_SECONDS)
    state.global_step = 3
    control = handler.on_log(arguments, state, control, {"loss": 2.0, "grad_norm": 0.5})
    assert control.should_training_stop
    handler.on_evaluate(arguments, state, control, {"eval_loss": 1.5})
    handler.on_train_end(arguments, state, control)
    run = only_run(tmp_path)
    assert (run.state, run.step, run.num_steps) == ("stopped", 3, 3)


@pytest.mark.filterwarnings("ignore")  # of Lightning's own
def test_the_callback_of_the_example_watches_a_trainer_of_lightning(tmp_path, monkeypatch):
    import pytorch_lightning

    monkeypatch.chdir(tmp_path)
    names = {"Watch": Watch}
    exec(OF_LIGHTNING.replace("from watch import Watch", ""), names)  # noqa: S102  the example

    class Line(pytorch_lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 1)

        def training_step(self, batch, index):
            if self.global_step == 2 and not index % 2:  # the page asks while a step is done
                send(only_run(tmp_path).directory, "pause")
                threading.Timer(0.5, send, (only_run(tmp_path).directory, "stop")).start()
                time.sleep(room.LOOK_SECONDS)
            return self.layer(batch).square().mean()

        def validation_step(self, batch, _index):
            self.log("val_loss", self.layer(batch).square().mean())

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    quiet = ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary")
    trainer = pytorch_lightning.Trainer(
        accelerator="cpu", max_epochs=2, accumulate_grad_batches=2, callbacks=[names["Watched"]()],
        **dict.fromkeys(quiet, False),
    )  # fmt: skip
    module, rows = Line(), torch.utils.data.DataLoader(torch.ones(20, 4), batch_size=2)
    weights = [each.detach().clone() for each in module.parameters()]
    trainer.fit(module, rows, rows)
    run = only_run(tmp_path)
    assert (run.state, run.step, run.num_steps) == ("stopped", 3, 10)
    increment = RunReader(run.directory).read_new()
    assert increment.records["step"].tolist() == [1, 2, 3]
    asked = [event["op"] for event in increment.events if event["kind"] == "ack"]
    assert asked == ["pause", "stop"]
    (noted,) = [event for event in increment.events if event["kind"] == "eval"]
    assert noted["validation_loss"] == trainer.callback_metrics["val_loss"].item()
    first = (torch.ones(1, 4) @ weights[0].T + weights[1]).item()
    assert increment.records["loss"][0] == pytest.approx(first**2)
    norm = 2 * abs(first) * 5**0.5  # of the gradient by four weights and a bias
    assert increment.records["grad_norm"][0] == pytest.approx(norm)
    assert {path.name for path in tmp_path.iterdir()} == {"runs"}


def test_short_steps_are_written_down_together(loop, monkeypatch):
    monkeypatch.setattr(room, "TELL_SECONDS", 3600)
    loop.steps(3)
    assert not len(written(loop))
    loop.watch.close()
    assert written(loop)["step"].tolist() == [1, 2, 3]


def test_the_norm_of_short_steps_is_measured_now_and_then(loop, monkeypatch):
    monkeypatch.setattr(room, "NORM_SECONDS", 3600)
    loop.steps(3)
    assert np.isfinite(written(loop)["grad_norm"]).tolist() == [True, False, False]


def test_an_update_that_computes_its_own_gradients_has_their_norm(loop, monkeypatch):
    monkeypatch.setattr(room, "NORM_SECONDS", 0)

    def closure():
        loop.optimizer.zero_grad()
        loss = loop.model(torch.ones(2, 4)).square().mean()
        loss.backward()
        return loss

    for _step in range(2):
        loss = loop.optimizer.step(closure)
        told = torch.nn.utils.get_total_norm([p.grad for p in loop.model.parameters()])
        loop.watch.step(loss)
        assert written(loop)["grad_norm"][-1] == pytest.approx(told.item())


def test_a_number_of_steps_that_nobody_knows_is_not_written(tmp_path):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for unknown in (float("inf"), -1, None):
        with Watch(model, optimizer, runs=tmp_path / "runs", num_steps=unknown) as watch:
            assert "num_steps" not in RunReader(watch.directory).info["config"], unknown


RANKS = """
import sys
import torch
import torch.distributed
from watch import Watch

meeting, rank = "file://" + sys.argv[1], int(sys.argv[2])
torch.distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
watch = Watch(model, optimizer, runs="runs")
for step in range(4):
    if step == 2 and rank == 0:
        for number, op in enumerate(("set_learning_rate_multiplier", "stop"), 1):
            text = '{"op": "%s", "value": 2.0}' % op
            (watch.directory / "control" / f"{number:06d}.json").write_text(text)
        watch._look_at = 0.0
    loss = model(torch.ones(2, 4)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    assert watch.step(loss)
watch.validation(loss)
watch.close()
torch.distributed.destroy_process_group()
"""


# One shard of a model of 16 x 8 + 16 weights; of its gradients' norm each process has a part.
SHARDS = """
import sys
import torch
from torch.distributed import destroy_process_group, device_mesh, fsdp, init_process_group
from torch.distributed.tensor import DTensor, Partial
from watch import Watch

meeting, rank = "file://" + sys.argv[1], int(sys.argv[2])
init_process_group("gloo", init_method=meeting, rank=rank, world_size=2)
model = torch.nn.Linear(8, 16)
mesh = device_mesh.init_device_mesh("cpu", (2,))
fsdp.fully_shard(model, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
watch = Watch(model, optimizer, runs="runs", memory_every=1)
part = lambda norm: DTensor.from_local(norm.to_local(), mesh, [Partial()])
for norm_of in (None, part, lambda norm: norm):
    optimizer.zero_grad()
    loss = model(torch.ones(2, 8)).square().mean()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1e9) if norm_of else None
    optimizer.step()
    assert watch.step(loss, norm_of and norm_of(norm))
watch.close()
print(norm.full_tensor().item())
destroy_process_group()
"""


def run_two(tmp_path, program):
    """Return the one run that two processes of a program wrote, and what the first printed."""
    shutil.copy(room.__file__, tmp_path / "watch.py")
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    ranks = [
        subprocess.Popen(
            [sys.executable, "program.py", str(tmp_path / "meet"), str(rank)], cwd=tmp_path,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(2)
    ]  # fmt: skip
    told = [rank.communicate(timeout=120) for rank in ranks]
    for rank, (_out, errors) in zip(ranks, told, strict=True):
        assert rank.returncode == 0, errors
    return only_run(tmp_path), told[0][0]


def test_of_a_model_in_shards_one_process_tells_its_own_and_waits_for_no_other(tmp_path):
    run, printed = run_two(tmp_path, SHARDS)
    increment = RunReader(run.directory).read_new()
    assert run.state == "finished"
    first, second, third = increment.records["grad_norm"]
    assert math.isnan(first)
    assert math.isnan(second), "a part of the norm"
    assert third == pytest.approx(float(printed))
    shard = 4 * (16 * 8 + 16) // 2
    predicted = run.info["prediction"]
    assert predicted["num_params"] == 16 * 8 + 16
    assert predicted["memory"]["weights"] == predicted["memory"]["gradients"] == shard
    for event in increment.events:
        if event["kind"] == "memory":
            told = {name: event[name] for name in ("weights", "gradients", "optimizer")}
            assert told == predicted["memory"]


def test_of_two_ranks_one_writes_and_does_nothing_that_the_other_would_not_do(tmp_path):
    run, _printed = run_two(tmp_path, RANKS)
    increment = RunReader(run.directory).read_new()
    assert (run.state, increment.records["step"].tolist()) == ("finished", [1, 2, 3, 4])
    acks = [event for event in increment.events if event["kind"] == "ack"]
    assert [(ack["accepted"], "process" in ack["reason"]) for ack in acks] == [(False, True)] * 2


def test_an_accelerator_is_asked_for_the_numbers_of_many_steps_at_once(loop):
    loop.steps(1)
    loop.watch._device, loop.watch._told_at = torch.device("mps"), time.perf_counter() + 60
    loop.steps(room.MOST_OWED - 1)
    assert len(written(loop)) == 1
    loop.steps(1)
    assert len(written(loop)) == 1 + room.MOST_OWED
    loop.steps(2)
    loop.watch.close()
    assert written(loop)["step"].tolist() == list(range(1, room.MOST_OWED + 4))


def test_the_norm_is_the_one_that_torch_computes(loop):
    grads = [torch.randn(3, 4), torch.randn(5)]
    assert torch.isclose(room._total_norm(grads), torch.nn.utils.get_total_norm(grads))


def test_the_config_of_a_watched_run_claims_no_setting_of_ours(loop):
    told = RunReader(loop.watch.directory).info["config"]
    assert told == {"name": "Mine", "tokens_per_step": 8, "optimizer": "sgd"}
    assert set(told) - set(TrainConfig().to_json()) == {"tokens_per_step"}
