"""What a value becomes: the encodings and their scikit-learn faces."""

from softbin.encodings.hard_bins import HardBins
from softbin.encodings.multi_bins import MultiBins
from softbin.encodings.soft_bins import SoftBins

__all__ = ["HardBins", "MultiBins", "SoftBins"]
