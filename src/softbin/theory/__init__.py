"""What the paper says about bins, what is true, and what follows: how many bins, and where. Formulas only."""

from softbin.theory.auc import auc_with_noise, information_of
from softbin.theory.design import Design
from softbin.theory.four_lemmas import Lemma, Number, lemmas
from softbin.theory.knot_density import best_density, edges_of, roughness
from softbin.theory.many_bins import variance_in_bin
from softbin.theory.measured_risk import MeasuredRisk, measured_best_n_bins, measured_risks
from softbin.theory.number_of_bins import BestBins, BestNumber, best_n_bins, hard_bias, soft_bias
from softbin.theory.per_bin import PerBin
from softbin.theory.pilot import Pilot, Stretches, pilot
from softbin.theory.quality import correctness, pointwise_variance, robustness, squared_bias

__all__ = [
    "BestBins",
    "BestNumber",
    "Design",
    "Lemma",
    "MeasuredRisk",
    "Number",
    "PerBin",
    "Pilot",
    "Stretches",
    "auc_with_noise",
    "best_density",
    "best_n_bins",
    "correctness",
    "edges_of",
    "hard_bias",
    "information_of",
    "lemmas",
    "measured_best_n_bins",
    "measured_risks",
    "pilot",
    "pointwise_variance",
    "robustness",
    "roughness",
    "soft_bias",
    "squared_bias",
    "variance_in_bin",
]
