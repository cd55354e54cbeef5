"""Files made of runs: one after the other, one a browser at a time, a bounded number kept."""

import asyncio
import threading

import pytest

from pages.components.live_chart.exports import Export, Exports, File


@pytest.fixture
def run(tmp_path):
    (tmp_path / "metrics.bin").write_bytes(b"12345678")
    return tmp_path


def test_a_browser_s_second_file_waits_for_its_first_and_another_s_comes_before_it(run):
    order, gate = [], threading.Event()

    def make(name):
        gate.wait(10)
        order.append(name)
        return File(name.encode())

    async def scene():
        exports = Exports()
        wishes = [("ann", "a1"), ("ann", "a2"), ("ann", "a3"), ("ben", "b1")]
        tasks = []
        for who, name in wishes:
            file = exports.file(who, Export((name,), run), lambda name=name: make(name))
            tasks.append(asyncio.create_task(file))
        await asyncio.sleep(0)
        gate.set()
        return [file.content for file in await asyncio.gather(*tasks)]

    assert asyncio.run(scene()) == [b"a1", b"a2", b"a3", b"b1"]
    assert order == ["a1", "b1", "a2", "a3"]


def test_a_file_that_its_writer_renames_meanwhile_is_no_error(run, monkeypatch):
    half = run / "state.json.tmp"
    monkeypatch.setattr(type(run), "iterdir", lambda _folder: iter((half, run / "metrics.bin")))
    assert [name for name, _time, _size in Export((), run).end()] == ["metrics.bin"]


def test_no_more_bytes_are_kept_than_the_bound_and_a_failure_is_not_kept(run):
    made = []

    def make(name, size):
        made.append(name)
        if size < 0:
            raise ValueError(name)
        return File(bytes(size))

    async def scene():
        exports = Exports(max_kept_bytes=10)

        async def ask(name, size):
            file = await exports.file("ann", Export((name,), run), lambda: make(name, size))
            return len(file.content)

        sizes = [await ask(name, size) for name, size in (("a", 6), ("b", 4), ("a", 6), ("c", 5))]
        for _again in range(2):
            with pytest.raises(ValueError, match="bad"):
                await ask("bad", -1)
        sizes += [await ask("huge", 99), await ask("c", 5)]
        kept = sum(len(file.content) for _end, file in exports._kept.values())
        return sizes, kept

    assert asyncio.run(scene()) == ([6, 4, 6, 5, 99, 5], 9)
    assert made == ["a", "b", "c", "bad", "bad", "huge"]
