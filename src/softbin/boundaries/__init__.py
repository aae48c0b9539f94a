"""Where a column is cut: the boundaries, the grid of a table, and the rules that find them."""

from softbin.boundaries.ameva import Ameva
from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.cacc import CACC
from softbin.boundaries.caim import CAIM
from softbin.boundaries.chi2 import Chi2
from softbin.boundaries.chimerge import ChiMerge
from softbin.boundaries.convex import Convex
from softbin.boundaries.description_length import DescriptionLength
from softbin.boundaries.freedman_diaconis import FreedmanDiaconis
from softbin.boundaries.grid import Grid
from softbin.boundaries.kmeans import KMeans
from softbin.boundaries.mdlp import MDLP
from softbin.boundaries.optimal import Optimal
from softbin.boundaries.optimal_linear import OptimalLinear
from softbin.boundaries.proportional import Proportional
from softbin.boundaries.quantile import Quantile
from softbin.boundaries.scott import Scott
from softbin.boundaries.strategies import STRATEGIES
from softbin.boundaries.tree import Tree
from softbin.boundaries.uniform import Uniform
from softbin.boundaries.user_edges import UserEdges

__all__ = [
    "CACC",
    "CAIM",
    "MDLP",
    "STRATEGIES",
    "Ameva",
    "Boundaries",
    "Chi2",
    "ChiMerge",
    "Convex",
    "DescriptionLength",
    "FreedmanDiaconis",
    "Grid",
    "KMeans",
    "Optimal",
    "OptimalLinear",
    "Proportional",
    "Quantile",
    "Scott",
    "Tree",
    "Uniform",
    "UserEdges",
]
