"""Data sets: simulated events that resemble UCI HIGGS and SUSY, any number of rows, nothing to download.

Simulated numbers are not UCI numbers; docs/results/simulated.md says how near they come.
"""

from softbin.datasets.events import Dataset as Dataset
from softbin.datasets.higgs import simulate_higgs as simulate_higgs
from softbin.datasets.susy import simulate_susy as simulate_susy

__all__ = ["Dataset", "simulate_higgs", "simulate_susy"]
