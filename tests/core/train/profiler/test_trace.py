"""A Chrome trace read back: against torch.profiler's averages, and a trace as CUDA writes it."""

import gzip
import json

import pytest

from core.train.profiler.trace import BOUNDS, MAX_BYTES, read_trace


def event(name, begin, length, *, category="cpu_op", thread=1, number=0):
    return {
        "ph": "X", "cat": category, "name": name, "pid": 7, "tid": thread, "ts": 1.7e15 + begin,
        "dur": length, "args": {"External id": number},
    }  # fmt: skip


def trace(*events):
    return json.dumps({"traceEvents": list(events)}).encode()


@pytest.mark.slow
def test_self_total_and_calls_are_those_of_key_averages(tmp_path):
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function

    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 32))
    x = torch.randn(64, 32)
    with profile(activities=[ProfilerActivity.CPU], acc_events=True) as profiler:
        for _step in range(2):
            with record_function("my own part"):
                loss = model(x).square().mean()
            loss.backward()
    profiler.export_chrome_trace(str(tmp_path / "trace.json"))
    found = read_trace((tmp_path / "trace.json").read_bytes())
    averages = {row.key: row for row in profiler.key_averages()}
    for row in (*found.operators, *found.ranges):
        oracle = averages[row.name]
        assert row.calls == oracle.count, row.name
        assert row.own * 1e6 == pytest.approx(oracle.self_cpu_time_total, abs=0.1), row.name
        assert row.total * 1e6 == pytest.approx(oracle.cpu_time_total, abs=0.1), row.name
    assert [row.calls for row in found.ranges] == [2]
    assert found.phases["backward"] > 0 < found.phases["forward"]  # unnamed, and yet told apart


def test_a_trace_of_a_gpu_counts_the_backward_pass_in_its_own_thread_once():
    found = read_trace(
        trace(
            event("forward", 0, 100, category="user_annotation"),
            event("aten::mm", 10, 20, number=1),
            event("backward", 100, 200, category="user_annotation"),
            event("autograd::engine::evaluate_function: MmBackward0", 110, 150, thread=2),
            event("aten::mm", 120, 100, thread=2, number=2),
            event("cudaStreamSynchronize", 300, 100, category="cuda_runtime"),
            event("sm90_gemm_kernel", 50, 100, category="kernel", thread=9, number=1),
            event("vectorized_elementwise", 160, 40, category="kernel", thread=9, number=2),
        )
    )
    assert found.has_device
    assert found.phases["backward"] == pytest.approx(200e-6)  # 50 of the caller, 150 of the engine
    assert found.phases["forward"] == pytest.approx(100e-6)
    assert sum(each.seconds for each in found.nodes if each.path == ("backward",)) == pytest.approx(
        200e-6
    )
    (mm,) = found.operators[:1]
    assert (mm.name, mm.calls) == ("aten::mm", 2)
    assert mm.device == pytest.approx(140e-6)
    assert found.spans["compute"] == pytest.approx(100 / 400)
    assert found.spans["memory"] == pytest.approx(40 / 400)
    assert found.spans["sync"] == pytest.approx(100 / 400)
    assert found.spans["launch"] == pytest.approx(160 / 400)


def test_a_range_round_the_backward_pass_of_a_gpu_holds_what_its_thread_does():
    found = read_trace(
        trace(
            event("aten::mm", 0, 20),
            event("my own part", 30, 100, category="user_annotation"),
            event("autograd::engine::evaluate_function: MmBackward0", 40, 80, thread=2),
            event("MmBackward0", 45, 70, thread=2),
        )
    )
    seconds = {each.path: each.seconds for each in found.nodes}
    assert seconds["backward", "my own part", "MmBackward0"] == pytest.approx(70e-6)
    assert found.ranges[0].own == pytest.approx(20e-6)


@pytest.mark.parametrize(
    ("bound", "name", "category"),
    [
        ("input", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation"),
        ("sync", "aten::item", "cpu_op"),
        ("compute", "aten::addmm", "cpu_op"),
        ("memory", "aten::add", "cpu_op"),
    ],
)
def test_a_step_is_bound_by_what_takes_most_of_it(bound, name, category):
    found = read_trace(trace(event("aten::mul", 0, 30), event(name, 40, 900, category=category)))
    assert max(BOUNDS, key=found.spans.get) == bound
    assert sum(found.spans.values()) == pytest.approx(1)


def test_many_small_operators_are_launch_bound():
    found = read_trace(trace(*(event("aten::mm", 20 * place, 5) for place in range(50))))
    assert found.spans["launch"] == pytest.approx(1)
    assert found.num_small == found.num_calls == 50


def test_the_icicle_adds_up_and_a_gzipped_trace_is_the_same():
    plain = trace(
        event("backward", 0, 100, category="user_annotation"),
        event("autograd::engine::evaluate_function: MmBackward0", 5, 90),
        event("MmBackward0", 10, 80),
        event("aten::mm", 20, 60),
    )
    found = read_trace(plain)
    seconds = {each.path: each.seconds for each in found.nodes}
    assert seconds["backward",] == pytest.approx(100e-6)
    assert seconds["backward", "MmBackward0", "aten::mm"] == pytest.approx(60e-6)
    assert read_trace(gzip.compress(plain)) == found


@pytest.mark.parametrize(
    "written",
    [b"", b"[1, 2", b'{"a": 1}', b"3", b"\x1f\x8bnonsense", b"[" * 200_000, b"\xff\xfe"],
)
def test_what_is_no_trace_is_refused_in_words(written):
    with pytest.raises(ValueError, match=r"no trace of torch\.profiler"):
        read_trace(written)


@pytest.mark.parametrize(
    "odd",
    [{"ts": float("nan")}, {"dur": -1}, {"ts": True}, {"cat": ["x"]}, {"args": 3}, {"ph": None}],
)
def test_events_that_cannot_be_are_left_out(odd):
    good = event("aten::mm", 0, 10)
    found = read_trace(trace(good, {**good, "name": "odd", **odd}))
    assert found.num_calls == (2 if "args" in odd else 1)


def test_a_trace_without_operators_or_too_large_when_unpacked_is_refused():
    with pytest.raises(ValueError, match="no operator"):
        read_trace(trace(event("a range", 0, 1, category="user_annotation")))
    bomb = gzip.compress(b" " * (100 * 1024**2), 1)
    assert len(bomb) < MAX_BYTES
    with pytest.raises(ValueError, match=r"no trace of torch\.profiler"):
        read_trace(bomb)
