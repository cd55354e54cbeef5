import pytest

from core.train.config import TrainConfig
from core.train.control import ranks
from core.train.control.ranks import Processes, processes_of, rank_here, threads_of


def test_a_process_without_torchrun_is_the_only_rank(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert rank_here() == ranks.Rank(number=0, count=1, local=0, local_count=1)
    assert rank_here().leads


def test_torchrun_says_which_rank_a_process_is_and_its_machine_shares_the_threads(monkeypatch):
    told = {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert rank_here() == ranks.Rank(number=5, count=8, local=1, local_count=4)
    assert not rank_here().leads
    assert [threads_of({"threads": threads}) for threads in (1, 3, 9)] == [1, 1, 2]


def test_one_process_needs_no_torchrun_and_leaves_nothing_in_run_json():
    assert "torch.distributed.run" not in Processes().command
    assert Processes().resolved == Processes().environment == {}
    two = Processes(count=2, sharding="fsdp2")
    assert two.command[-3:] == ["--nproc-per-node", "2", "-m"]
    assert processes_of(two.resolved) == two
    assert processes_of({}) == Processes()


@pytest.mark.parametrize(
    ("processes", "changes", "words"),
    [
        (Processes(count=0), {}, "processes is 0; choose a number from 1 to 64"),
        (Processes(count=2, sharding="zero"), {}, "'zero'; choose one of ddp, fsdp2"),
        (Processes(count=5), {"batch_size": 4}, "4 sequences cannot be split over 5"),
        (Processes(count=2, sharding="fsdp2"), {"optimizer": "muon"}, "optimizer=muon does not"),
        (Processes(count=2, sharding="fsdp2"), {"precision": "fp16"}, "precision=fp16 does not"),
        (Processes(count=2, sharding="fsdp2"), {"compile": True}, "compile=True does not"),
    ],
)
def test_what_several_processes_cannot_do_is_refused_in_words(processes, changes, words):
    with pytest.raises(ValueError, match=words):
        processes.check(TrainConfig.from_json(changes))


def test_ddp_does_all_of_it_and_one_process_too():
    for changes in ({"optimizer": "muon"}, {"precision": "fp16"}, {"batch_size": 1}):
        Processes().check(TrainConfig.from_json(changes))
        Processes(count=1, sharding="fsdp2").check(TrainConfig.from_json(changes))
    Processes(count=2).check(TrainConfig.from_json({"optimizer": "muon"}))


def test_each_process_takes_a_gpu_of_its_own(monkeypatch):
    monkeypatch.setattr(ranks, "visible_gpus", lambda: ("the only one",))
    Processes(count=1).check_device("cuda")
    Processes(count=9).check_device("cpu")
    with pytest.raises(ValueError, match="2 processes need as many GPUs, one each; 1 can"):
        Processes(count=2).check_device("cuda")
    with pytest.raises(ValueError, match="not on mps"):
        Processes(count=2).check_device("mps")
