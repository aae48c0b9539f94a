"""Where a column is cut: the boundaries, the grid of a table, and the rules that find them."""

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.description_length import DescriptionLength
from softbin.boundaries.grid import Grid
from softbin.boundaries.kmeans import KMeans
from softbin.boundaries.optimal import Optimal
from softbin.boundaries.optimal_linear import OptimalLinear
from softbin.boundaries.quantile import Quantile
from softbin.boundaries.strategies import STRATEGIES
from softbin.boundaries.tree import Tree
from softbin.boundaries.uniform import Uniform
from softbin.boundaries.user_edges import UserEdges

__all__ = [
    "STRATEGIES",
    "Boundaries",
    "DescriptionLength",
    "Grid",
    "KMeans",
    "Optimal",
    "OptimalLinear",
    "Quantile",
    "Tree",
    "Uniform",
    "UserEdges",
]
