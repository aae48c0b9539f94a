"""The lasso from a Gram matrix, exactly: at every step the coefficients that are not zero solve a linear system.

    minimise  1/2 b' G b - m' b + sum_k penalty_k |b_k|

With the signs of the active coefficients given, the optimum is linear algebra. So we go to it, stop where a
coefficient would change its sign and drop that one, and take in the coefficient whose gradient passes its penalty by
the largest factor, until none does. The objective falls with every step, so no set of signs is seen twice. One that is
a combination of the active ones takes the place of one of them.

Why not coordinate descent: neighbouring cuts are almost the same variable, and it would crawl.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

COLLINEAR = 1e-10  # of a variable's square is left beside the active ones: it adds nothing
TOLERANCE = 1e-9
MOST_ROUNDS = 5  # for each variable


@dataclass
class ActiveSet:
    """Some variables of a Gram matrix (diagonal about one) and the inverse of their part of it, kept up to date."""

    gram: Floats
    variables: list[int] = field(default_factory=list)
    inverse: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def of(cls, gram: Floats, variables: NDArray[np.integer]) -> "ActiveSet":
        """These variables but for those that are combinations of earlier ones."""
        # Why a try: one inverse is a hundred times faster than taking in one variable after the other.
        try:
            inverse = np.linalg.inv(gram[np.ix_(variables, variables)])
        except np.linalg.LinAlgError:
            inverse = np.zeros((len(variables), len(variables)))
        diagonal = np.diag(inverse)
        if np.all((diagonal > 0) & (diagonal < 1 / COLLINEAR)):
            return cls(gram, variables.tolist(), (inverse + inverse.T) / 2)
        active = cls(gram)
        for variable in variables.tolist():
            active.add(variable)
        return active

    def add(self, variable: int) -> bool:
        """Takes a variable in; False, and nothing changes, if it is a combination of those that are."""
        with_others = self.gram[self.variables, variable]
        share = self.inverse @ with_others
        rest = float(self.gram[variable, variable] - with_others @ share)
        if rest <= COLLINEAR:
            return False
        n = len(self.variables)
        grown = np.empty((n + 1, n + 1))
        grown[:n, :n] = self.inverse + np.outer(share, share) / rest
        grown[n, :n] = grown[:n, n] = -share / rest
        grown[n, n] = 1 / rest
        self.variables.append(variable)
        self.inverse = grown
        return True

    def drop(self, position: int) -> None:
        """Takes out the variable at this position of ``variables``."""
        kept = np.arange(len(self.variables)) != position
        row = self.inverse[position, kept]
        self.inverse = self.inverse[np.ix_(kept, kept)] - np.outer(row, row) / self.inverse[position, position]
        del self.variables[position]

    def solve(self, right: Floats) -> Floats:
        """The coefficients whose products with the active variables are these: (variables, ) or (variables, k)."""
        found = self.inverse @ right
        # Why once more: the inverse was updated many times, and neighbours are almost alike.
        found += self.inverse @ (right - self.gram[np.ix_(self.variables, self.variables)] @ found)
        return found


def lasso(gram: Floats, moment: Floats, penalty: Floats, start: Floats | None = None) -> Floats:
    """The optimal coefficients; ``start`` are those of a problem like this one."""
    coefficients = np.zeros(len(moment)) if start is None else start.copy()
    active = ActiveSet.of(gram, np.flatnonzero(coefficients))
    left_out = np.setdiff1d(np.flatnonzero(coefficients), active.variables)
    coefficients[left_out] = 0.0
    signs = np.sign(coefficients)
    refused = np.zeros(len(moment), bool)
    # Why bounded: in exact arithmetic it ends by itself; beside variables that are all but equal, rounding decides.
    for _ in range(MOST_ROUNDS * (len(moment) + 1)):
        _to_optimum(active, coefficients, signs, moment, penalty)
        rows = active.variables
        gradient = moment - coefficients[rows] @ gram[rows]
        share = np.abs(gradient) / penalty
        # Why: a copy of an active variable must not enter over what rounding left of that one.
        rounding = np.abs(share[rows] - 1).max(initial=TOLERANCE)
        excess = np.where(refused | (signs != 0), 0.0, share)
        most = excess.max(initial=0.0)
        if most <= 1 + 10 * rounding:
            break
        # Why the first of equals: of columns that say the same, one has all the changes.
        entering = int(np.argmax(excess >= most * (1 - TOLERANCE)))
        signs[entering] = np.sign(gradient[entering])
        if not active.add(entering) and not _exchange(active, coefficients, signs, entering):
            refused[entering], signs[entering] = True, 0.0
    return coefficients


def _exchange(active: ActiveSet, coefficients: Floats, signs: Floats, entering: int) -> bool:
    """Takes in a combination of the active variables, for one of them: moved against each other, all fits as before."""
    at = np.array(active.variables)
    direction = -signs[entering] * (active.inverse @ active.gram[at, entering])
    towards_zero = direction * coefficients[at] < 0
    if not towards_zero.any():
        return False
    step = np.where(towards_zero, np.abs(coefficients[at]) / np.maximum(np.abs(direction), 1e-300), np.inf)
    first = int(np.argmin(step))
    active.drop(first)
    if not active.add(entering):
        active.add(int(at[first]))
        return False
    coefficients[at] += step[first] * direction
    coefficients[entering] = signs[entering] * step[first]
    coefficients[at[first]] = signs[at[first]] = 0.0
    return True


def _to_optimum(active: ActiveSet, coefficients: Floats, signs: Floats, moment: Floats, penalty: Floats) -> None:
    """Moves the active coefficients to where they are optimal with their signs; drops those that pass zero."""
    while active.variables:
        at = np.array(active.variables)
        here = coefficients[at]
        there = active.solve(moment[at] - penalty[at] * signs[at])
        wrong = there * signs[at] < 0
        if not wrong.any():
            coefficients[at] = there
            return
        # A variable that enters stands on zero and has no way to go in the wrong direction.
        step = np.where(wrong, np.abs(here) / np.maximum(np.abs(here - there), 1e-300), np.inf)
        first = int(np.argmin(step))
        coefficients[at] = here + float(step[first]) * (there - here)
        coefficients[at[first]] = signs[at[first]] = 0.0
        active.drop(first)
