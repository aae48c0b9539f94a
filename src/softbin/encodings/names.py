"""Names of output columns: age[20,35), age@20, age[missing], age[=-999]."""

from itertools import pairwise

from softbin.encodings.plan import Levels, Plan


def level_names(label: str, levels: Levels) -> list[str]:
    """The names of one column's levels."""
    b = levels.boundaries
    texts = short_numbers(b.edges)
    if levels.soft:
        names = [f"{label}@{text}" for text in texts[: b.n_knots]]
    elif len(texts) == 1:
        names = [f"{label}[{texts[0]}]"]
    else:
        names = [f"{label}[{left},{right})" for left, right in pairwise(texts)]
        names[-1:] = [name[:-1] + "]" for name in names[-1:]]
    names += [f"{label}[={text}]" for text in short_numbers(b.special)]
    return names + [f"{label}[missing]"] * (b.missing == "level")


def plan_names(plan: Plan) -> list[str]:
    """The names of all output columns of a plan."""
    pairs = zip(plan.grid.labels, plan.columns, strict=True)
    return [name for label, levels in pairs for name in level_names(label, levels)]


def short_numbers(numbers: tuple[float, ...]) -> list[str]:
    """Numbers with as few digits (six at least) as keep them apart."""
    for digits in range(6, 18):
        texts = [f"{number:.{digits}g}" for number in numbers]
        if len(set(texts)) == len(texts):
            break
    return texts if numbers else []
