"""A memory snapshot is counted right, and a file that is none costs a sentence and nothing else."""

import json
import os
import pickle
import struct
import subprocess
import sys
from dataclasses import asdict

import pytest

from core.budget.diagnosis.sentences import compared_moments, compared_sentence
from core.budget.diagnosis.snapshot.answer import (
    MAX_MEMORY,
    PROBLEMS,
    as_snapshot,
    read_in_child,
    watched,
)
from core.budget.diagnosis.snapshot.history import NUM_BUCKETS, summarize
from core.budget.diagnosis.snapshot.stacks import Stacks, place_of
from core.units import format_bytes
from tests.core.budget.diagnosis.made_snapshot import (
    ENGINE,
    MODULE,
    OPTIMIZER,
    STACKS,
    TENSOR,
    TRAIN,
    MadeAllocator,
    frame,
    two_steps,
    write,
)

PROGRAM = "core.budget.diagnosis.snapshot.__main__"


def amounts(point):
    return {name: amount for name, amount in point.by_category.items() if amount}


def told(made):
    return [(active, reserved) for active, reserved, _amounts in made.told]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_peak_categories_and_segments_are_those_that_the_allocator_counted(tmp_path, protocol):
    made = two_steps()
    found = as_snapshot(read_in_child(write(tmp_path / "made.pickle", made.dump(), protocol)))
    peak = max(range(len(made.told)), key=lambda number: made.told[number][0])
    active, reserved, by_category = made.told[peak]
    assert (found.peak.active, found.peak.event) == (active, peak + 1)
    assert found.peak.reserved == reserved
    assert amounts(found.peak) == {name: size for name, size in by_category.items() if size}
    assert found.reserved == made.reserved
    assert found.active == sum(rounded for _size, rounded, *_rest in made.blocks.values())
    assert found.gap == 0
    assert found.at_start == sum(4_000_000 + number for number in range(5))
    assert found.actions["alloc"] == sum(each["action"] == "alloc" for each in made.events)
    assert found.num_segments == len(made.blocks) + len(made.free)


def test_the_largest_blocks_at_the_peak_add_up_and_say_where_they_were_asked_for():
    made = two_steps(num_layers=3)
    found = summarize(made.dump())
    assert found.num_blocks == len(found.blocks)
    assert sum(block.num_bytes for block in found.blocks) == found.peak.active
    assert [block.num_bytes for block in found.blocks][:6] == [4_000_004 - n for n in range(5)] + [
        3_000_000
    ]
    places = {block.category: block.place for block in found.blocks}
    assert places["before"] == ""
    assert places["setup"] == "project/train.py:12 train"
    assert places["forward"] == "project/model.py:41 gelu"
    assert places["optimizer"] == "project/adam.py:30 step"


def test_the_blocks_that_one_line_asked_for_stand_together_and_add_up():
    found = summarize(two_steps(num_layers=3).dump())
    assert sum(line.num_bytes for line in found.lines) == found.peak.active
    assert sum(line.num_blocks for line in found.lines) == found.num_blocks
    for line in found.lines:
        asked = line.category, line.place
        own = [each for each in found.blocks if (each.category, each.place) == asked]
        assert (line.num_bytes, line.num_blocks) == (sum(b.num_bytes for b in own), len(own))
    sizes = [line.num_bytes for line in found.lines]
    assert sizes == sorted(sizes, reverse=True)


def test_a_ring_that_lost_its_beginning_still_has_the_right_amounts():
    made = two_steps()
    for keep in (1, 7, 100, 301):
        kept = made.dump(keep=keep)
        if not any(event["action"] == "alloc" for event in kept["device_traces"][0]):
            continue
        found, whole = summarize(kept), told(made)
        before = made.told[-keep - 1]
        assert (found.at_start, found.points[0].reserved) == before[:2], keep
        assert found.gap == 0, keep
        assert found.peak.active == max([before[0], *(a for a, _r in whole[-keep:])]), keep


def test_a_long_time_is_thinned_out_and_keeps_every_extreme():
    made = MadeAllocator()
    kept = [made.alloc(512 * number, "forward") for number in range(1, 900)]
    for address in kept[::2]:
        made.release(address)
    made.empty_cache()
    found = summarize(made.dump())
    assert len(found.points) <= 3 * NUM_BUCKETS + 1
    actives, reserved = zip(*told(made), strict=True)
    assert max(point.active for point in found.points) == max(actives)
    assert max(point.reserved for point in found.points) == max(reserved)
    for point in found.points[1:]:
        assert (point.active, point.reserved) == told(made)[point.event - 1]
    assert [p.event for p in found.points] == sorted({p.event for p in found.points})


def test_a_free_that_was_not_recorded_is_no_second_block():
    made = two_steps(num_layers=3)
    dump = made.dump()
    events = dump["device_traces"][0]
    lost = next(n for n, event in enumerate(events) if event["action"] == "free_completed")
    assert any(e["addr"] == events[lost]["addr"] for e in events[lost + 1 :])
    del events[lost]
    assert summarize(dump).gap == 0


def test_events_and_segments_that_disagree_are_told():
    made = two_steps()
    dump = made.dump()
    in_use = next(s for s in dump["segments"] if s["blocks"][0]["size"] == 2_000_384)
    dump["segments"].remove(in_use)
    assert summarize(dump).gap == 2_000_000


def test_without_a_history_the_segments_speak():
    made = two_steps(with_history=False)
    found = summarize(made.dump())
    assert (found.points, found.actions) == ([], {})
    assert found.peak.active == sum(size for size, *_rest in made.blocks.values())
    assert found.reserved - found.idle == found.active
    assert (found.in_empty, found.fragmented) == (sum(made.free.values()), 0)


def test_free_pieces_between_blocks_in_use_are_not_what_empty_cache_gives_back():
    blocks = [("active_allocated", 512), ("inactive", 1024), ("active_pending_free", 512)]
    blocks += [("inactive", 2048)]
    rows = [{"size": size, "state": state, "frames": []} for state, size in blocks]
    segments = [
        {"device": 1, "address": 4096, "total_size": 4096, "blocks": rows},
        {"device": 1, "address": 16384, "total_size": 8192,
         "blocks": [{"size": 8192, "state": "inactive"}]},
    ]  # fmt: skip
    found = summarize({"segments": segments, "device_traces": [[], []]})
    assert (found.device, found.num_devices) == (1, 1)
    assert (found.reserved, found.active, found.idle) == (12288, 1024, 11264)
    assert (found.in_empty, found.fragmented, found.largest_free) == (8192, 3072, 8192)
    assert found.num_blocks == 2, "an address that is not said is counted from the segment's"


def test_the_gpu_with_the_most_events_is_shown_and_out_of_memory_errors_are_counted():
    made = two_steps(num_layers=2)
    dump = made.dump()
    other = {"device": 1, "address": 0, "total_size": 1 << 40, "blocks": []}
    dump["segments"].append(other)
    made.events.append({"action": "oom", "device_free": 5, "size": 12345, "stream": 0})
    found = summarize(dump)
    assert (found.device, found.num_devices, found.requests) == (0, 2, [12345])


@pytest.mark.parametrize("category", STACKS)
def test_a_stack_tells_who_asked(category):
    assert Stacks().category(STACKS[category]) == category


def test_the_innermost_frame_that_tells_decides():
    cases = [
        ([*STACKS["forward"], ENGINE], "backward"),  # a rerun of checkpointing
        ([frame("step", OPTIMIZER), frame("hook", "/a/train.py"), ENGINE], "optimizer"),
        ([frame("backward", TENSOR), TRAIN], "backward"),
        ([frame("backward", "/a/mine.py")], "other"),  # a name alone says little
        ([frame("_apply", MODULE.replace("/", "\\"))], "setup"),
        ([frame("at::empty", "Empty.cpp")], "unknown"),
    ]
    stacks = Stacks()
    for frames, category in cases:
        assert stacks.category(frames) == category, frames
    assert place_of(STACKS["backward"]) == "MmBackward0"
    assert place_of([frame("x", "<frozen runpy>"), frame("y", "/usr/lib/python3.12/a.py")]) == ""


def problem(answers):
    *_earlier, last = answers
    with pytest.raises(ValueError, match=r"\w") as caught:
        as_snapshot(last)
    assert "Traceback" not in str(caught.value)
    return json.loads(last)["problem"]


class Evil:
    def __reduce__(self):
        return os.mkdir, ("it-was-run",)


def test_a_pickle_that_names_code_is_refused_and_nothing_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    old = b"cos\nmkdir\n(S'it-was-run'\ntR."
    for number, content in enumerate(
        [pickle.dumps({"segments": [Evil()]}), pickle.dumps(Evil(), 2), old]
    ):
        path = tmp_path / f"{number}.pickle"
        path.write_bytes(content)
        (answer,) = read_in_child(path)
        assert problem([answer]) == "globals"
        assert json.loads(answer)["name"].endswith("mkdir")
    from core.budget.diagnosis.snapshot import answer as module

    assert not (tmp_path / "it-was-run").exists()
    assert not (module._ROOT / "it-was-run").exists()


def files():
    good = pickle.dumps(two_steps(num_layers=2).dump())
    yield "empty file", b"", "broken"
    yield "torn", good[: len(good) // 2], "broken"
    yield "no pickle", b"CUDA out of memory. Tried to allocate 2.00 GiB" * 9, "broken"
    yield "picture", bytes(range(256)) * 40, "broken"
    yield "lying length", b"\x80\x04\x8e" + struct.pack("<Q", 1 << 62) + b"x.", "memory"
    yield "lying text", b"\x80\x04\x8d" + struct.pack("<Q", 1 << 34) + b"x.", "broken"
    yield "lying memo", b"\x80\x04}r" + struct.pack("<I", 2**32 - 1) + b".", "memory"
    yield "deep", b"\x80\x04" + b"]" * 200_000 + b"a" * 199_999 + b".", "fields"
    yield "a number", pickle.dumps(7), "fields"
    yield "another dict", pickle.dumps({"weights": [1, 2]}), "fields"
    yield "no segments", pickle.dumps({"segments": [], "device_traces": []}), "empty"
    for size in (-1, 1.5, "12", 1 << 70, 10**5000, None):
        segment = {"address": 0, "total_size": size, "blocks": []}
        yield (
            f"size {str(size)[:9] if size != 10**5000 else 'huge'}",
            pickle.dumps({"segments": [segment]}),
            "fields",
        )
    block = {"size": 1, "state": "active_allocated", "frames": [["a"]]}
    segment = {"address": 0, "total_size": 1, "blocks": [block]}
    yield "frames", pickle.dumps({"segments": [segment]}), "fields"


def test_a_file_that_is_no_snapshot_costs_a_sentence(tmp_path):
    for name, content, expected in files():
        path = tmp_path / "bad.pickle"
        path.write_bytes(content)
        found = problem(read_in_child(path))
        assert found == expected or {found, expected} == {"broken", "memory"}, name


def test_names_that_no_page_can_show_are_made_plain(tmp_path):
    made = MadeAllocator()
    made.alloc(512, "forward")
    odd = [{"name": "\ud800<b>" * 99, "filename": "/a/\ud800.py", "line": 10**5000}]
    made.events[-1]["frames"] = odd
    found = as_snapshot(read_in_child(write(tmp_path / "odd.pickle", made.dump())))
    (block,) = found.blocks
    block.place.encode()
    assert len(block.place) <= 120


def test_a_file_of_more_than_fifty_megabytes_is_read_within_the_limits(tmp_path):
    made = two_steps()
    dump = made.dump()
    # Distinct stacks as torch writes them: shared frames, a list of its own for each event.
    frames = [frame(f"f{n}", f"/a/b{n}.py", n) for n in range(64)]
    events = [
        {"action": action, "addr": 7 << 40, "size": 512, "stream": 0, "time_us": 2_000_000 + n,
         "compile_context": "N/A", "frames": list(frames)}
        for n in range(60_000) for action in ("alloc", "free_requested", "free_completed")
    ]  # fmt: skip
    dump["device_traces"][0].extend(events)
    path = write(tmp_path / "large.pickle", dump)
    assert path.stat().st_size > 50 * 2**20
    first, found = map(as_snapshot, read_in_child(path, seconds=120))
    assert (first.is_first, first.points, found.is_first) == (True, (), False)
    assert (first.reserved, first.active) == (found.reserved, found.active)
    assert found.actions["free_completed"] >= 60_000
    assert found.peak.active == max(active for active, _reserved in told(made))
    few = 100 * 2**20
    assert problem(read_in_child(path, seconds=120, memory=few)) == "memory"
    # The same where the system holds no process to its memory.
    without = f"import sys; from {PROGRAM} import *; [*answers(DataUnpickler(sys.stdin.buffer))]"
    with path.open("rb") as file:
        assert problem(watched([sys.executable, "-c", without], file, 120, few)) == "memory"


def test_a_file_that_takes_too_long_is_given_up(tmp_path):
    # Ten thousand times the same ten thousand blocks: small to send, endless to go through.
    blocks = [{"size": 0, "state": "inactive"}] * 10_000
    segments = [{"address": 0, "total_size": 0, "blocks": blocks}] * 10_000
    path = write(tmp_path / "loop.pickle", {"segments": segments})
    assert path.stat().st_size < 10**6
    assert problem(read_in_child(path, seconds=0.5)) == "late"


def test_a_process_that_ends_without_a_word_is_told(tmp_path):
    with write(tmp_path / "made.pickle", {}).open("rb") as file:
        assert (
            problem(watched([sys.executable, "-c", "raise SystemExit(1)"], file, 9, 2**30))
            == "failed"
        )
    assert MAX_MEMORY == 1.5 * 2**30
    assert set(PROBLEMS) == {"globals", "broken", "fields", "empty", "memory", "late", "failed"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell that a parent is gone")
def test_a_process_whose_parent_was_gone_before_it_began_ends_too():
    command = [sys.executable, "-m", PROGRAM, str(2**30), "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as child:  # to which nothing comes
        assert child.wait(60) == 1


def test_stacks_that_are_slow_to_compare_are_not_compared():
    frames = [frame("f", "/a/b.py", 1)]
    for odd in ([], []):
        nested = odd
        for _time in range(60):  # 2 ** 60 pairs
            nested = [nested, nested]
        frames.append({**frame("g", "/a/c.py", 2), "more": nested})
    stacks = Stacks()
    assert [stacks.category([frames[0], each]) for each in frames[1:]] == ["other", "other"]


def test_the_end_of_a_long_recording_is_one_of_its_points():
    made = two_steps(num_layers=300)
    found = summarize(made.dump())
    assert found.points[-1].event == len(made.events) > 3 * NUM_BUCKETS
    assert (found.points[-1].active, found.points[-1].reserved) == told(made)[-1]


def test_a_recording_of_frees_alone_is_a_history():
    made = two_steps(num_layers=3)
    made.release(next(iter(made.blocks)))
    found = summarize(made.dump(keep=2))
    assert [point.event for point in found.points] == [0, 1, 2]
    assert found.points[0].active > found.points[-1].active
    assert summarize(made.dump(keep=1)).points == []


@pytest.mark.parametrize("damage", ["blocks", "events", "nothing"])
def test_a_snapshot_that_contradicts_itself_or_is_empty_is_told_as_such(tmp_path, damage):
    dump = two_steps(num_layers=3).dump()
    if damage == "blocks":
        dump["segments"][0]["total_size"] = 1
    elif damage == "events":
        dump["device_traces"][0].append({"action": "segment_alloc", "addr": 1, "size": 2**50})
    else:
        dump = {"segments": [{"address": 0, "total_size": 0, "blocks": []}], "device_traces": []}
    (line,) = read_in_child(write(tmp_path / "made.pickle", dump))
    answer = json.loads(line)
    assert answer == {"problem": "empty" if damage == "nothing" else "fields"}


def test_expandable_segments_are_told():
    dump = two_steps(num_layers=3).dump()
    assert not summarize(dump).is_expandable
    dump["segments"][0]["is_expandable"] = True
    assert summarize(dump).is_expandable


def test_of_two_snapshots_the_change_of_the_peak_and_its_largest_category_are_told():
    small, large = summarize(two_steps(num_layers=3).dump()), summarize(two_steps().dump())
    plain = summarize(two_steps(with_history=False).dump())
    small, large, plain = (as_snapshot(json.dumps(asdict(each))) for each in (small, large, plain))
    more = format_bytes(large.peak.active - small.peak.active)
    parts = [each.peak.by_category["forward"] for each in (large, small)]
    for pair, word, sign in (((small, large), "above", "+"), ((large, small), "below", "−")):
        told = compared_sentence(*pair)
        assert f"{more} {word}" in told
        assert f"forward alone {sign}{format_bytes(parts[0] - parts[1])}" in told
    assert "alone" not in compared_sentence(plain, large), "no stacks tell it"
    assert compared_moments(plain, large) == (plain.peak, large.points[-1])
