"""The rules that have a short name. A rule of your own needs none: pass the object."""

from softbin.boundaries.description_length import DescriptionLength
from softbin.boundaries.kmeans import KMeans
from softbin.boundaries.optimal import Optimal
from softbin.boundaries.optimal_linear import OptimalLinear
from softbin.boundaries.quantile import Quantile
from softbin.boundaries.rule import AnyRule
from softbin.boundaries.tree import Tree
from softbin.boundaries.uniform import Uniform

STRATEGIES: dict[str, type[AnyRule]] = {
    "quantile": Quantile,
    "uniform": Uniform,
    "kmeans": KMeans,
    "tree": Tree,
    "optimal": Optimal,
    "optimal_linear": OptimalLinear,
    "description_length": DescriptionLength,
}
