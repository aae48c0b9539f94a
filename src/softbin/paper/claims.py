"""What the paper says, put to the test: every claim is a list of comparisons, each with an interval.

A comparison *holds* when its whole interval is on the claim's side of the limit, *fails* when it is on the other side,
and is *undecided* otherwise. A claim holds if all of its comparisons hold, fails if one fails. Intervals of a claim
cover their truths together with 95 % (Bonferroni), so picking the best of several methods makes nobody significant.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations

from softbin.paper.cells import percent
from softbin.paper.methods import HARD, SOFT
from softbin.paper.results import Key, Results

LEVEL = 0.95
SIMILAR = 1.0  # points of AUC x 100: what "similar" may mean at most
HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"


@dataclass(frozen=True)
class Part:
    """One comparison."""

    where: str
    verdict: str
    finding: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, how it was tested, and what came out."""

    words: str
    test: str
    parts: tuple[Part, ...]

    @property
    def verdict(self) -> str:
        verdicts = {part.verdict for part in self.parts}
        if FAILS in verdicts:
            return FAILS
        return HOLDS if verdicts == {HOLDS} else UNDECIDED


@dataclass(frozen=True)
class Place:
    """One column of Table 1 for one model."""

    model: str
    data: str
    share: float

    @property
    def name(self) -> str:
        return f"{self.model}, {self.data}, {percent(self.share)}"

    def key(self, method: str) -> Key:
        return self.model, method, self.data, self.share


def check_claims(results: Results) -> list[Claim]:
    """All claims, in the order of the paper."""
    return [claim(results) for claim in CLAIMS]


def best_soft(results: Results) -> Claim:
    """For the best rival in each place: is the best soft row above it?"""
    rivals = (*HARD, "MGD")
    places = _places(results, (*rivals, *SOFT))
    level = _level(len(places) * len(SOFT) * len(rivals))
    parts = [_best_of(results, place, SOFT, rivals, level) for place in places]
    return Claim(
        "LLE performs the best on all datasets with all ratios of training samples.",
        "In every column the best LLE row beats every CD row and MGD.",
        tuple(parts),
    )


def stable_soft(results: Results) -> Claim:
    """How much the largest and the smallest share differ."""
    pairs = _ends(results, ("LLE (10)",))
    level = _level(len(pairs))
    parts = []
    for place, small in pairs:
        keys = [place.key("LLE (10)"), small.key("LLE (10)")]
        found = results.compare([1, -1], keys)
        low, high = found.interval(level)
        verdict = _verdict(-high, -low, -SIMILAR)
        text = f"LLE (10) loses {found.estimate:.2f} [{low:.2f}, {high:.2f}] from {percent(place.share)} to "
        parts.append(Part(f"{place.model}, {place.data}", verdict, text + percent(small.share)))
    return Claim(
        "With different ratios of training samples, the performances of LLE are similar.",
        f"LLE (10) loses less than {SIMILAR:g} point of AUC x 100 from the largest share of the rows to the smallest.",
        tuple(parts),
    )


def sturdier_soft(results: Results) -> Claim:
    """The loss from the largest to the smallest share, beside that of hard bins."""
    pairs = list(zip(HARD, SOFT, strict=True))
    ends = _ends(results, (*HARD, *SOFT))
    level = _level(len(ends) * len(pairs))
    parts = []
    for place, small in ends:
        for hard, soft in pairs:
            keys = [place.key(hard), small.key(hard), place.key(soft), small.key(soft)]
            found = results.compare([1, -1, -1, 1], keys)
            low, high = found.interval(level)
            text = f"{hard} loses {found.estimate:+.2f} [{low:+.2f}, {high:+.2f}] more than {soft}"
            parts.append(Part(f"{place.model}, {place.data}", _verdict(low, high), text))
    return Claim(
        "LLE can improve the correctness of feature discretization, while preserving the robustness.",
        "With the same number of bins, LLE loses less than CD when rows get fewer.",
        tuple(parts),
    )


def moving_hard(results: Results) -> Claim:
    """Whether a number of bins wins at one share and loses to another one at another share."""
    by_column: dict[tuple[str, str], list[Place]] = {}
    for place in _places(results, HARD):
        by_column.setdefault((place.model, place.data), []).append(place)
    parts = [
        _moves(results, f"{model}, {data}", places, _level(len(by_column) * len(HARD) * len(places)))
        for (model, data), places in by_column.items()
        if len(places) > 1
    ]
    return Claim(
        "With different ratios of training samples, the best number in common discretization varies a lot.",
        "Some CD row is better than another one at one share of the rows, and worse at another share.",
        tuple(parts),
    )


def multi_over_hard(results: Results) -> Claim:
    """MGD beside the best hard row."""
    places = _places(results, (*HARD, "MGD"))
    level = _level(len(places) * len(HARD))
    return Claim(
        "MGD can search for a relative suitable granularity, and achieve better performances compared with CD.",
        "In every column MGD beats every CD row.",
        tuple(_best_of(results, place, ("MGD",), HARD, level) for place in places),
    )


def fewer_parameters(results: Results) -> Claim:
    """Nominal counts of every soft row beside MGD's; counts have no error, so nothing stays undecided."""
    parts = []
    for place in _places(results, (*SOFT, "MGD")):
        most = max(results.entries[place.key(method)].nominal for method in SOFT)
        multi = results.entries[place.key("MGD")].nominal
        text = f"LLE has at most {most:,.0f}, MGD {multi:,.0f} ({multi / most:.0f} times as many)"
        parts.append(Part(place.name, HOLDS if most < multi else FAILS, text))
    return Claim(
        "Compared with MGD, LLE can achieve better performances with much less model parameters.",
        "Every LLE row has fewer parameters than MGD, counted as in Table 2. Performance: the first claim.",
        tuple(parts),
    )


CLAIMS: tuple[Callable[[Results], Claim], ...] = (
    best_soft, stable_soft, sturdier_soft, moving_hard, multi_over_hard, fewer_parameters,
)  # fmt: skip


def _best_of(results: Results, place: Place, ours: Sequence[str], rivals: Sequence[str], level: float) -> Part:
    """Is the best of ours above all rivals? It fails if a rival is surely above all of ours."""
    best = max(ours, key=lambda method: results.entries[place.key(method)].auc)
    rival = max(rivals, key=lambda method: results.entries[place.key(method)].auc)
    against = [results.compare([1, -1], [place.key(best), place.key(other)]).interval(level) for other in rivals]
    found = results.compare([1, -1], [place.key(best), place.key(rival)])
    low, high = found.interval(level)
    verdict = HOLDS if min(low for low, _ in against) > 0 else UNDECIDED
    if any(_all_below(results, place, ours, other, level) for other in rivals):
        verdict = FAILS
    note = "" if found.between_seeds else "; one seed: the interval knows test rows only"
    return Part(place.name, verdict, f"{best} beats {rival} by {found.estimate:+.2f} [{low:+.2f}, {high:+.2f}]{note}")


def _all_below(results: Results, place: Place, ours: Sequence[str], rival: str, level: float) -> bool:
    return all(results.compare([1, -1], [place.key(own), place.key(rival)]).interval(level)[1] < 0 for own in ours)


def _moves(results: Results, where: str, places: Sequence[Place], level: float) -> Part:
    best = {place.share: max(HARD, key=lambda m, p=place: results.entries[p.key(m)].auc) for place in places}  # type: ignore[misc]
    surely = {
        (better, worse): [
            place.share
            for place in places
            if results.compare([1, -1], [place.key(better), place.key(worse)]).interval(level)[0] > 0
        ]
        for better, worse in permutations(HARD, 2)
    }
    text = "best: " + ", ".join(f"{method} at {percent(share)}" for share, method in best.items())
    if any(surely[a, b] and surely[b, a] for a, b in surely):
        return Part(where, HOLDS, text)
    first = next(iter(best.values()))
    always = all(len(surely[first, other]) == len(places) for other in HARD if other != first)
    return Part(where, FAILS if always else UNDECIDED, text)


def _places(results: Results, methods: Sequence[str]) -> list[Place]:
    """Where all of these rows are done."""
    found = [
        Place(model, data, share)
        for model in results.present("model")
        for data in results.present("data")
        for share in sorted(results.present("share"), reverse=True)
    ]
    return [place for place in found if all(place.key(method) in results.by_key for method in methods)]


def _ends(results: Results, methods: Sequence[str]) -> list[tuple[Place, Place]]:
    """The places with the largest and the smallest share, for every model and data set."""
    by_column: dict[tuple[str, str], list[Place]] = {}
    for place in _places(results, methods):
        by_column.setdefault((place.model, place.data), []).append(place)
    return [(places[0], places[-1]) for places in by_column.values() if len(places) > 1]


def _level(comparisons: int) -> float:
    return 1 - (1 - LEVEL) / max(comparisons, 1)


def _verdict(low: float, high: float, limit: float = 0.0) -> str:
    if low > limit:
        return HOLDS
    return FAILS if high < limit else UNDECIDED
