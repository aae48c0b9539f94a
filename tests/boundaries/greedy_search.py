"""The top-down search of CAIM, CACC and Ameva on the rows themselves, every criterion computed anew."""

from tests.boundaries.rows import middles, table


def by_search(values, y, criterion, as_many_as_classes, n_bins=1000) -> list[float]:
    """As the papers print it; of cuts that are as good the left one. ``criterion`` sees a table: bins x classes."""
    cuts, reached, k = [], 0.0, 1
    classes = len(set(y.tolist()))
    while k < n_bins and classes > 1:
        left = [cut for cut in middles(values) if cut not in cuts]
        if not left:
            break
        scores = [criterion(table(values, y, [*cuts, cut])) for cut in left]
        best = max(scores)
        if not (best > reached + 1e-12 or (as_many_as_classes and k < classes)):
            break
        cuts.append(next(cut for cut, score in zip(left, scores, strict=True) if score > best - 1e-11))
        reached, k = best, k + 1
    return sorted(cuts)
