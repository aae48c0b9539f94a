"""A column reduced to something that merges: exact ranks, bin totals."""

from softbin.summaries.rank_histogram import RankHistogram

__all__ = ["RankHistogram"]
