"""Measured speeds: what is counted, not how fast this machine is."""

from core.machine import matmul_trial
from core.machine.matmul_trial import measure_copy, measure_matmul


def test_a_square_product_counts_two_operations_for_each_multiply_and_add(monkeypatch):
    monkeypatch.setattr(matmul_trial, "_times", lambda *_: [0.5, 1.0, 2.0])
    measured = measure_matmul("cpu", "float32", size=64)
    assert measured.median == 2 * 64**3 / 1.0
    assert (measured.low, measured.high) == (64**3, 4 * 64**3)
    assert (measured.what, measured.unit, measured.num_runs) == ("matmul float32", "FLOP/s", 3)


def test_a_copy_counts_each_byte_read_and_written(monkeypatch):
    monkeypatch.setattr(matmul_trial, "_times", lambda *_: [2.0])
    assert measure_copy("cpu", num_bytes=1000).median == 1000
