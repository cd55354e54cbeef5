"""What a model costs: bytes, FLOPs and seconds, every number with its formula and its source."""

from core.budget.formula import Formula
from core.budget.item import Item
from core.models.spec import ModelSpec

__all__ = ["Formula", "Item", "ModelSpec"]
