"""A scenario of a model and a device of the catalogues."""

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import TrainingRecipe
from core.budget.training.scenario import Scenario


def named_scenario(model, device, recipe=None, layout=None):
    cluster = Cluster(device=DEVICES[device], **(layout or {}))
    return Scenario(spec=MODELS[model], recipe=recipe or TrainingRecipe(), cluster=cluster)
