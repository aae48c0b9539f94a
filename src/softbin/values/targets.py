"""What the columns are to tell: one class or one number per row, out of whatever the caller has.

Text, bools, categories and whole numbers with few distinct values are classes; all other numbers are numbers. Who
knows better says so (``kind``). Both become whole-number *statistics* that add up to the same bits in any order:

    classes   the weight of each class
    number    weight, weight y, weight y^2, with y measured from its mean, each in a unit of its own,

so that whatever is read from sums of them does not depend on blocks, threads or the order of the rows, a weight of two
is the row twice, and a weight of zero is the row absent. No rule asks how large numbers are, so y is brought to about
one by a power of two: its squares neither overflow nor vanish.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from softbin.errors import DataError, DataTypeError
from softbin.values.tables import Weight

Kind = Literal["classes", "number"]

MOST_CLASSES = 20  # distinct whole numbers that are taken for classes
WEIGHT_BITS = 32  # of the total weight, beside a number: the rest of 62 bits is left to the number
LEAST_UNIT, LARGEST_UNIT = 2.0**-200, 2.0**100  # of weights: beyond these all evidence is none, or certain


@dataclass(frozen=True, eq=False)
class Target:
    """One class (``code``, a position in ``classes``) or one ``number`` per row."""

    kind: Kind
    code: NDArray[np.int32] | None = None
    classes: NDArray[Any] | None = None
    number: NDArray[np.float64] | None = None

    @property
    def n_rows(self) -> int:
        rows = self.number if self.code is None else self.code
        assert rows is not None
        return len(rows)


@dataclass(frozen=True, eq=False)
class Statistics:
    """A target as whole numbers to add up: row i adds ``parts[s, i]`` to slot ``slot[i] + s`` of its bin.

    ``parts`` None is a one for every row. ``unit`` is what one stands for, slot by slot; of a number, it stands for
    (y - shift) / scale. ``classes`` are those that any weight is on, in the order of their slots.
    """

    kind: Kind
    slot: NDArray[np.int32]
    parts: NDArray[np.int64] | None
    unit: tuple[float, ...]
    shift: float = 0.0
    scale: float = 1.0
    classes: NDArray[Any] | None = None

    @property
    def n_slots(self) -> int:
        return len(self.unit)

    def in_folds(self, fold: NDArray[np.integer[Any]], n_folds: int) -> "Statistics":
        """The same with slots of their own for each fold: fold f has the slots f n_slots, f n_slots + 1, ..."""
        slot = (self.slot + np.asarray(fold, np.int32) * np.int32(self.n_slots)).astype(np.int32)
        return Statistics(self.kind, slot, self.parts, self.unit * n_folds, self.shift, self.scale, self.classes)


def read_labels(y: Any) -> NDArray[Any]:
    """A target of any real kind, in any container, as one array."""
    if hasattr(y, "to_numpy") and not hasattr(y, "__array__"):
        y = y.to_numpy()
    y = np.asarray(y)
    if y.dtype.kind == "c":
        raise DataTypeError("y: Complex data not supported; pass real numbers or classes")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    return labels


def read_target(y: Any, n_rows: int, kind: Kind | Literal["auto"] = "auto", weight: Weight | None = None) -> Target:
    """The target of a table's rows; a Target of the kind asked for is itself.

    ``kind`` "auto": numbers that are not whole, or of more than 20 distinct values, are numbers; all else classes.
    Whatever rows of ``weight`` zero hold is not looked at.
    """
    if isinstance(y, Target):
        if kind in ("auto", y.kind):
            return _of_length(y, n_rows)
        y = y.number if y.code is None else _plain(y)
    if y is None:
        raise DataError("y: requires y to be passed, but the target y is None; these bins look at it, one per row")
    labels = read_labels(y)
    if labels.dtype.kind in "mM":
        raise DataTypeError(f"y: holds {labels.dtype}, neither classes nor numbers; pass one of the two")
    if len(labels) != n_rows:
        raise DataError(f"y: {len(labels)} values for {n_rows} rows; inconsistent numbers of samples")
    if weight is not None and not weight.all():
        labels = np.where(weight > 0, labels, labels[np.argmax(weight > 0)])
    _check_finite(labels)
    asked = _kind(labels) if kind == "auto" else kind
    return _as_classes(labels) if asked == "classes" else _as_numbers(labels)


def statistics(target: Target, weight: Weight | None, unit: float) -> Statistics:
    """What each row adds to the sums; ``weight`` counts units of ``unit``."""
    unit = evidence_unit(unit)
    if target.kind == "classes":
        return _class_statistics(target, weight, unit)
    assert target.number is not None
    number = target.number
    if weight is None:
        weight = np.ones(len(number), np.int64)
    # Why: a number and its square must keep bits of their own beside the weight, or no sum would fit 62 bits.
    shift_bits = max(0, int(weight.sum()).bit_length() - WEIGHT_BITS)
    coarse = weight >> shift_bits
    total = max(1, int(coarse.sum()))
    weighed = coarse > 0
    scale = _scale(number[weighed])
    number = np.where(weighed, number, 0.0) / scale
    whole, y_unit = _whole(number, total)
    mean = float(np.sum(coarse * whole)) / total * y_unit
    away = np.where(weighed, number - mean, 0.0)
    closer = _scale(away)
    away = away / closer
    first, first_unit = _whole(away, total)
    second, second_unit = _whole(away**2, total)
    unit = unit * 2.0**shift_bits
    parts = np.stack([coarse, coarse * first, coarse * second])
    units = (unit, unit * first_unit, unit * second_unit)
    return Statistics("number", np.zeros(len(number), np.int32), parts, units, mean * scale, scale * closer)


def evidence_unit(unit: float) -> float:
    """The unit of weights as rules see it: none that overflows or vanishes where weights are squared."""
    return min(max(unit, LEAST_UNIT), LARGEST_UNIT)


def _scale(numbers: NDArray[np.float64]) -> float:
    """About the largest of the numbers' sizes: a power of two."""
    largest = float(np.max(np.abs(numbers), initial=0.0))
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1)) if largest > 0 else 1.0


def _class_statistics(target: Target, weight: Weight | None, unit: float) -> Statistics:
    assert target.code is not None
    assert target.classes is not None
    n_classes = len(target.classes)
    rows = target.code if weight is None else target.code[weight > 0]
    present = np.bincount(rows, minlength=n_classes) > 0
    # Rows of an absent class weigh nothing: they may stand in any slot.
    slot = np.maximum(np.cumsum(present) - 1, 0).astype(np.int32)[target.code]
    parts = None if weight is None else np.ascontiguousarray(weight)[None]
    return Statistics("classes", slot, parts, (unit,) * int(present.sum()), classes=target.classes[present])


def _plain(target: Target) -> NDArray[Any]:
    assert target.classes is not None
    labels: NDArray[Any] = target.classes[target.code]
    return labels


def _of_length(target: Target, n_rows: int) -> Target:
    if target.n_rows != n_rows:
        raise DataError(f"y: {target.n_rows} values for {n_rows} rows; inconsistent numbers of samples")
    return target


def _check_finite(labels: NDArray[Any]) -> None:
    if labels.dtype.kind == "f" and (bad := int(np.sum(~np.isfinite(labels)))):
        raise DataError(f"y: Input y contains NaN or infinity, in {bad} rows; drop these rows")
    if labels.dtype.kind == "O" and (bad := sum(_is_missing(label) for label in labels)):
        raise DataError(f"y: Input y contains NaN or None, in {bad} rows; drop these rows")


def _is_missing(label: Any) -> bool:
    # Why the type: pandas.NA answers neither yes nor no when it is compared.
    return label is None or type(label).__name__ in ("NAType", "NaTType") or bool(label != label)


def _kind(labels: NDArray[Any]) -> Kind:
    if labels.dtype.kind == "O" and all(_is_number(label) for label in labels):
        labels = labels.astype(np.float64)
    if labels.dtype.kind in "OUSb":
        return "classes"
    if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
        return "number"
    # Why a look at the start: most columns of numbers are known as such without sorting them all.
    few = len(np.unique(labels[:1000])) <= MOST_CLASSES and len(np.unique(labels)) <= MOST_CLASSES
    return "classes" if few else "number"


def _is_number(label: Any) -> bool:
    return isinstance(label, (int, float, np.number)) and not isinstance(label, (bool, np.bool_))


def _as_classes(labels: NDArray[Any]) -> Target:
    if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
        raise DataError(
            "y: Unknown label type: continuous. These bins tell classes apart, and y holds numbers that are not "
            'whole; pass classes, or a rule for numbers such as strategy="tree" or "optimal"'
        )
    try:
        classes, code = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise DataTypeError(f"y: classes of several types cannot be told apart ({error}); pass one type") from None
    return Target("classes", code.astype(np.int32), classes)


def _as_numbers(labels: NDArray[Any]) -> Target:
    try:
        if labels.dtype.kind in "US":
            raise TypeError(f"they are {labels.dtype}")
        number = labels.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataTypeError(f"y: not numbers ({error}); pass one number per row") from None
    _check_finite(number)
    return Target("number", number=number)


def _whole(numbers: NDArray[np.float64], total: int) -> tuple[NDArray[np.int64], float]:
    """The numbers in units of a power of two, chosen so that no sum of ``total`` of them passes 2^62."""
    largest = float(np.max(np.abs(numbers), initial=0.0))
    if largest == 0:
        return np.zeros(len(numbers), np.int64), 1.0
    exponent = 62 - total.bit_length() - int(np.frexp(largest)[1])
    return np.rint(np.ldexp(numbers, exponent)).astype(np.int64), float(np.ldexp(1.0, -exponent))
