"""What each line of a story does to the allocator."""

from core.budget.training.allocator_stories import CAPACITY, STORIES, replay
from core.units import MIB


def numbers(story, line):
    state = replay(story)[line - 1].state
    return state.allocated / MIB, state.reserved / MIB, state.peak / MIB


def test_every_story_runs_within_the_device():
    for story, lines in STORIES.items():
        moments = replay(story)
        assert len(moments) == len(lines)
        assert all(each.state.reserved <= CAPACITY for each in moments), story


def test_the_stories_tell_what_their_notes_say():
    assert replay("two")[-1].state.allocated == 8192
    assert numbers("del", 4) == (60, 100, 100)
    assert numbers("del", 6) == (60, 60, 100)  # the view holds it
    assert numbers("del", 7) == (0, 0, 100)
    assert numbers("step", 5) == (88, 176, 176)
    assert numbers("grow", 7) == (70, 220, 70)
    assert numbers("grow", 8) == (170, 170, 170)
    assert "60.0 MiB are reserved but unallocated" in replay("holes")[-1].error
    assert "tried to allocate 130 MiB" in replay("leftover")[1].error
    assert numbers("leftover", 4) == (130, 130, 130)
