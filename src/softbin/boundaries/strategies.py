"""The rules that have a short name. A rule of your own needs none: pass the object."""

from softbin.boundaries.ameva import Ameva
from softbin.boundaries.cacc import CACC
from softbin.boundaries.caim import CAIM
from softbin.boundaries.chi2 import Chi2
from softbin.boundaries.chimerge import ChiMerge
from softbin.boundaries.convex import Convex
from softbin.boundaries.description_length import DescriptionLength
from softbin.boundaries.freedman_diaconis import FreedmanDiaconis
from softbin.boundaries.kmeans import KMeans
from softbin.boundaries.mdlp import MDLP
from softbin.boundaries.optimal import Optimal
from softbin.boundaries.optimal_linear import OptimalLinear
from softbin.boundaries.proportional import Proportional
from softbin.boundaries.quantile import Quantile
from softbin.boundaries.rule import AnyRule
from softbin.boundaries.scott import Scott
from softbin.boundaries.tree import Tree
from softbin.boundaries.uniform import Uniform

STRATEGIES: dict[str, type[AnyRule]] = {
    "quantile": Quantile,
    "uniform": Uniform,
    "kmeans": KMeans,
    "freedman_diaconis": FreedmanDiaconis,
    "scott": Scott,
    "proportional": Proportional,
    "tree": Tree,
    "mdlp": MDLP,
    "chimerge": ChiMerge,
    "chi2": Chi2,
    "caim": CAIM,
    "cacc": CACC,
    "ameva": Ameva,
    "convex": Convex,
    "optimal": Optimal,
    "optimal_linear": OptimalLinear,
    "description_length": DescriptionLength,
}
