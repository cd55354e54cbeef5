"""What a viewer gets of a recorded run, made once for all viewers."""

from functools import cache
from typing import Final

from core.train.run.recorded import recorded_preset, recorded_run
from core.train.run.replay import MAX_SPEED, MIN_SPEED, ReplayReader
from pages.components.live_chart.feed import Feed, Position

LOOK_SECONDS: Final = 0.5  # from one message to the next, as at every replay
SHOWN_SECONDS: Final = 15.0  # a recording takes about that long to watch


def recorded_messages(preset: str) -> tuple[bytes, ...]:
    """Return the messages of the recorded run shown for a preset, from its first steps on."""
    return _made(recorded_preset(preset))


@cache
def recorded_speed(preset: str) -> float:
    """Return how many times as fast as it was the recorded run for a preset is shown."""
    seconds = ReplayReader(recorded_run(preset), MIN_SPEED).replay.seconds
    return min(max(round(seconds / SHOWN_SECONDS), MIN_SPEED), MAX_SPEED)


@cache  # a row for each recording that there is, whatever is asked for
def _made(preset: str) -> tuple[bytes, ...]:
    num_looks = 0
    speed = recorded_speed(preset)
    reader = ReplayReader(recorded_run(preset), speed, lambda: num_looks * LOOK_SECONDS)
    feed = Feed(reader.directory, reader)
    messages: list[bytes] = []
    position: Position | None = None
    while reader.moment <= reader.replay.seconds + LOOK_SECONDS * speed:
        # Nobody waits for the process to start again: the first message holds the first steps.
        if feed.take(feed.look()) and feed.position.num_records:
            messages.append(feed.message(position))
            position = feed.position
        num_looks += 1
    return tuple(messages)
