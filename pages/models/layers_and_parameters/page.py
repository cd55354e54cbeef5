"""Where are the parameters of a model?"""

from functools import partial

from core.language import N_
from pages.models.layers_and_parameters.against_ndarray import against_ndarray, choose_traced
from pages.models.layers_and_parameters.initialisation import choose_stack, initialisation
from pages.models.layers_and_parameters.inputs import ASK, choose_case
from pages.models.layers_and_parameters.layer_zoo import choose_layer, layer_zoo
from pages.models.layers_and_parameters.modules import modules
from pages.models.layers_and_parameters.parameters import parameters
from pages.models.layers_and_parameters.question import (
    ask_batch_of_one,
    ask_depth,
    ask_heads,
    ask_lora,
    ask_traced,
    ask_width,
)
from pages.models.layers_and_parameters.trainable import choose_trainable, trainable
from pages.shared.tabbed_page import Page, Tab, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs

_SIZES = ("width", "layers", "vocabulary", "settings")

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        question=ask_width,
        refusal=partial(refused_inputs, N_("This cannot be built.")),
        tabs={
            "tree": Tab(label=N_("Parameters"), show=parameters),
            "modules": Tab(label=N_("Modules"), show=modules, question=ask_heads),
            "trainable": Tab(
                label=N_("Freezing and LoRA"),
                show=trainable,
                unseen=_SIZES,
                choose=choose_trainable,
                question=ask_lora,
            ),
            "zoo": Tab(
                label=N_("Layer zoo"),
                show=layer_zoo,
                with_inputs=False,
                choose=choose_layer,
                question=ask_batch_of_one,
            ),
            "init": Tab(
                label=N_("Initialization"),
                show=initialisation,
                with_inputs=False,
                choose=choose_stack,
                question=ask_depth,
            ),
            "ndarray": Tab(
                label=N_("Tensor and ndarray"),
                show=against_ndarray,
                with_inputs=False,
                choose=choose_traced,
                question=ask_traced,
            ),
        },
    ),
)
