"""Where are the parameters of a model?"""

from functools import partial

from core.language import N_
from pages.models.layers_and_parameters import initialization, layer_zoo, parameters, trainable
from pages.models.layers_and_parameters.inputs import ASK, choose_case
from pages.shared.tabbed_page import Page, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        refusal=partial(refused_inputs, N_("This cannot be built.")),
        tabs={
            "tree": parameters.TAB,
            "trainable": trainable.TAB,
            "zoo": layer_zoo.TAB,
            "init": initialization.TAB,
        },
    ),
)
