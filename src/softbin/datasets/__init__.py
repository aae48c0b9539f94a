"""Data sets: UCI HIGGS and SUSY, downloaded once or read from a local file, and kept as Parquet."""

from softbin.datasets.events import Dataset as Dataset
from softbin.datasets.uci import load_higgs as load_higgs
from softbin.datasets.uci import load_susy as load_susy

__all__ = ["Dataset", "load_higgs", "load_susy"]
