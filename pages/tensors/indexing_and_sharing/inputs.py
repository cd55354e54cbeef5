"""What the tabs of this page have in common."""

from typing import Final

from core.tensors.strided_windows import MAX_LENGTH
from pages.shared.inputs import Inputs

ASK: Final = Inputs("index")
LENGTHS: Final = tuple(range(1, MAX_LENGTH + 1))
