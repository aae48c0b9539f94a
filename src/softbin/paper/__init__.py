"""The paper computed again: every cell of its Table 1, and our own rows beside them."""

from softbin.paper.experiment import Experiment, Outcome, run_experiment

__all__ = ["Experiment", "Outcome", "run_experiment"]
