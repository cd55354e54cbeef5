"""Where the same trade is made for a whole model.

Why apart: it knows the address of another page, and changes with it.
"""

from core.language import _
from pages.shared.page_links import show_link


def to_training_memory(segment: int) -> None:
    """Show the link to the memory of a model that is trained with such segments."""
    query = {"memory_checkpointing": "every_k", "memory_every": str(segment)}
    show_link("plan/training_memory", _("The same segments when training a model →"), query)
