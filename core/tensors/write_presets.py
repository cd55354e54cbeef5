"""Programs that write into tensors: views, copies, what is refused, what goes wrong silently."""

from collections.abc import Mapping
from typing import Final

from core.language import N_
from core.tensors.presets import Preset

# fmt: off
WRITE_PRESETS: Final = (
    Preset(key="transpose", title=N_("Write through a transpose"),
           shape=(2, 3), source="y = x.t()\ny[0, 1] = 100"),
    Preset(key="four", title=N_("One write, four views"),
           shape=(2, 3),
           source="row = x[0]\ncolumn = x[:, 1]\ny = x.view(3, 2)\nz = x.t()\nx[0, 1] = 100"),
    Preset(key="list", title=N_("Write into what a list of columns gave"),
           shape=(2, 3), source="y = x[:, [0, 2]]\ny[0, 1] = 100"),
    Preset(key="mask", title=N_("x[mask] = 0 writes, x[mask] alone copies"),
           shape=(2, 3), source="y = x[x > 2]\nx[x > 2] = 0"),
    Preset(key="reshape", title=N_("reshape: once a view, once a copy"),
           shape=(2, 3), source="y = x.reshape(6)\nz = x.t().reshape(6)\nx[0, 1] = 100"),
    Preset(key="same", title=N_("contiguous() may return the tensor itself"),
           shape=(2, 3), source="y = x.contiguous()\nz = x.clone()\ny.mul_(10)"),
    Preset(key="bits", title=N_("The same bytes as another dtype"),
           shape=(2, 3), source="y = x.view(torch.int32)\ny[0, 0] = 1065353216"),
    Preset(key="row", title=N_("One write into an expanded row"),
           shape=(2, 1), source="y = x.expand(2, 3)\ny[0, 0] = 100"),
    Preset(key="refused", title=N_("Refused: writing through stride 0"),
           shape=(2, 1), source="y = x.expand(2, 3)\ny.add_(1)"),
    Preset(key="overlap", title=N_("Not refused, and wrong: windows that overlap"),
           shape=(7,), source="y = x.unfold(0, 3, 1)\ny.add_(1)"),
)
# fmt: on
BY_KEY: Final[Mapping[str, Preset]] = {preset.key: preset for preset in WRITE_PRESETS}
