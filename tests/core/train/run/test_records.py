import csv
import io
import math
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.train.run.records import (
    NON_FINITE,
    RECORD,
    RECORD_DTYPE,
    SKIPPED,
    StepRecord,
    check_header,
    csv_lines,
    newest,
    num_sound_bytes,
    pack_header,
    pack_record,
    parse_records,
    superseded,
    to_columns,
)

any_float = st.floats(allow_nan=True, allow_infinity=True, width=64)
records = st.builds(
    StepRecord,
    step=st.integers(1, 2**64 - 1),
    time=any_float,
    seconds=any_float,
    loss=any_float,
    learning_rate=any_float,
    grad_norm=any_float,
    tokens_per_second=any_float,
    resident_bytes=st.integers(0, 2**64 - 1),
    flags=st.integers(0, 3),
)


def packed(record, attempt=1):
    buffer = bytearray(80)
    pack_record(buffer, record, attempt)
    return bytes(buffer)


def some(steps, attempts):
    rows = np.zeros(len(steps), RECORD_DTYPE)
    rows["step"], rows["attempt"] = steps, attempts
    return rows


def test_the_layout_is_the_one_that_version_1_promises(make_record):
    data = packed(make_record(7, flags=SKIPPED), attempt=3)
    fields = struct.unpack("<QddddddQIII4x", data)
    assert fields[:7] == (7, 1e9 + 7, 0.5, 4.0 / 7, 1e-3, 1.5, 20_000.0)
    assert fields[7:10] == (300 << 20, 3, SKIPPED)
    assert fields[10] == zlib.crc32(data[:72])
    assert RECORD.size == RECORD_DTYPE.itemsize == len(data) == 80


@given(records, st.integers(1, 2**32 - 1))
def test_every_record_comes_back_as_it_went_in_nan_and_infinity_included(record, attempt):
    parsed, good = parse_records(packed(record, attempt))
    assert good.tolist() == [True]
    assert parsed["attempt"][0] == attempt
    for name in ("step", "resident_bytes"):
        assert int(parsed[name][0]) == getattr(record, name), name
    for name in ("time", "seconds", "loss", "learning_rate", "grad_norm", "tokens_per_second"):
        ours, theirs = getattr(record, name), float(parsed[name][0])
        assert struct.pack("<d", ours) == struct.pack("<d", theirs) or (
            math.isnan(ours) and math.isnan(theirs)
        ), name


@given(records)
def test_the_flag_says_when_the_loss_or_the_gradient_is_not_finite(record):
    parsed, _good = parse_records(packed(record))
    overflowed = record.flags == SKIPPED
    finite = math.isfinite(record.loss) and (overflowed or math.isfinite(record.grad_norm))
    assert int(parsed["flags"][0]) == record.flags | (0 if finite else NON_FINITE)


@given(records, st.integers(0, 75), st.integers(1, 255))
def test_a_changed_byte_fails_the_checksum(record, place, change):
    data = bytearray(packed(record))
    data[place] ^= change
    assert parse_records(bytes(data))[1].tolist() == [False]


def test_sound_bytes_end_behind_the_last_good_record(make_record):
    data = packed(make_record(1)) + bytes(80) + packed(make_record(2))
    assert num_sound_bytes(data) == 240
    assert num_sound_bytes(data + bytes(80) + b"torn") == 240
    assert num_sound_bytes(bytes(160)) == num_sound_bytes(b"") == 0


def test_a_header_of_another_program_or_a_newer_version_is_named():
    with pytest.raises(ValueError, match=r"^otter/m\.bin is not a metrics file of this app"):
        check_header(b"PK\3\4".ljust(64, b"\0"), Path("otter/m.bin"))
    newer = struct.pack("<8sHH52x", b"B2GMETR\0", 2, 96)
    with pytest.raises(ValueError, match=r"format 2 with 96 bytes a record.*Update the app"):
        check_header(newer, Path("otter/m.bin"))
    check_header(pack_header(), Path("otter/m.bin"))


def test_newest_drops_what_a_later_attempt_did_again():
    rows = some([1, 2, 3, 4, 5, 3, 4], [1, 1, 1, 1, 1, 2, 2])
    assert newest(rows)[["step", "attempt"]].tolist() == [(1, 1), (2, 1), (3, 2), (4, 2)]
    assert rows[superseded(rows)]["step"].tolist() == [3, 4, 5]


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 12)), min_size=1, max_size=5))
def test_newest_has_each_step_once_and_agrees_with_the_rule_read_aloud(attempts):
    rows = [
        (step, attempt)
        for attempt, (first, length) in enumerate(attempts, start=1)
        for step in range(first, first + length)
    ]
    table = some([step for step, _attempt in rows], [attempt for _step, attempt in rows])
    kept = newest(table)["step"].tolist()
    assert len(kept) == len(set(kept))
    first_of_later = [[first for first, _length in attempts[attempt:]] for _step, attempt in rows]
    expected = [
        any(first <= step for first in firsts)
        for (step, _attempt), firsts in zip(rows, first_of_later, strict=True)
    ]
    assert superseded(table).tolist() == expected


def test_columns_for_json_hold_none_where_a_number_is_not_finite():
    rows = some([1, 2, 3], [1, 1, 1])
    rows["loss"] = [1.5, math.nan, -math.inf]
    columns = to_columns(rows, ("step", "loss", "time"))
    assert columns == {"step": [1, 2, 3], "loss": [1.5, None, None], "time": [0.0, 0.0, 0.0]}


def test_csv_reads_back_with_every_digit(make_record):
    losses = [0.1 + 0.2, math.nan, math.inf]
    data = b"".join(packed(make_record(step, loss=losses[step - 1])) for step in (1, 2, 3))
    rows, _good = parse_records(data)
    text = "".join(csv_lines(rows, lines_per_chunk=2))
    read = list(csv.DictReader(io.StringIO(text)))
    assert list(read[0])[:4] == ["step", "time", "seconds", "loss"]
    assert [row["step"] for row in read] == ["1", "2", "3"]
    assert float(read[0]["loss"]) == 0.1 + 0.2
    assert math.isnan(float(read[1]["loss"]))
    assert float(read[2]["loss"]) == math.inf
    assert read[1]["flags"] == "1"
