import json

from hypothesis import given
from hypothesis import strategies as st

from core.train.run.events import num_sound_event_bytes, parse_lines

EVENTS = [
    {"seq": seq, "step": 9, "kind": "finding", "message": "长\u2028" * seq} for seq in range(5)
]
DATA = b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in EVENTS)


def test_every_truncation_gives_the_whole_lines_before_it():
    for length in range(len(DATA) + 1):
        events, num_damaged = parse_lines(DATA[:length])
        assert list(events) == EVENTS[: DATA[:length].count(b"\n")], length
        assert num_damaged == 0, length
        assert num_sound_event_bytes(DATA[:length]) == DATA[:length].rfind(b"\n") + 1, length


def test_json_that_is_no_event_counts_as_damaged():
    lines = [b"{}", b"[1]", b"7", b'{"kind": "eval"}', b'{"seq": "1", "kind": "eval"}', b"\xff"]
    events, num_damaged = parse_lines(b"\n".join(lines) + b"\n\n" + DATA)
    assert list(events) == EVENTS
    assert num_damaged == len(lines)


def test_damaged_lines_at_the_end_are_not_sound():
    assert num_sound_event_bytes(DATA + b"{}\n" + bytes(40) + b"\n") == len(DATA)
    assert num_sound_event_bytes(b"{}\n") == 0


@given(st.binary(max_size=300))
def test_any_bytes_at_all_are_read_without_an_error(data):
    events, num_damaged = parse_lines(data)
    assert len(events) + num_damaged <= data.count(b"\n")
    assert num_sound_event_bytes(data) <= len(data)
