"""The reference modules: the live run trains them, the budget counts them, the pages open them."""

from core.models.spec import GPTShape

__all__ = ["GPTShape"]
