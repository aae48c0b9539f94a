"""Data sets: UCI HIGGS and SUSY, downloaded once or read from a local file; and simulated events that resemble them.

Simulated numbers are not UCI numbers; docs/results/simulated.md says how near they come.
"""

from softbin.datasets.events import Dataset as Dataset
from softbin.datasets.higgs import simulate_higgs as simulate_higgs
from softbin.datasets.susy import simulate_susy as simulate_susy
from softbin.datasets.uci import load_higgs as load_higgs
from softbin.datasets.uci import load_susy as load_susy

__all__ = ["Dataset", "load_higgs", "load_susy", "simulate_higgs", "simulate_susy"]
