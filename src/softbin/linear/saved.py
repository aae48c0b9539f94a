"""A fitted linear model as JSON: options, grid, coefficients. Nothing runs on loading, and a loaded model predicts the
same bits: Python writes a float64 so that it reads back equal.

Options that are objects (an encoder as ``bins``) come back as the fitted encoder, or as their defaults.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from softbin.encodings.saved import encoder_from_state, encoder_state
from softbin.errors import SavedFileError, SoftbinError
from softbin.linear.families import FAMILIES
from softbin.linear.fit import LinearFit, Smoothness
from softbin.linear.solver import Pass
from softbin.whole_files import whole_file

if TYPE_CHECKING:
    from softbin.linear.model import LinearModel

FORMAT = "softbin.linear"
SCHEMA = 1
PAIRS = "pairs"


def write_model(model: "LinearModel", path: Path, overwrite: bool) -> None:
    """Writes the file whole, or not at all."""
    given = {name: _plain(value) for name, value in model.get_params(deep=False).items()}
    options = {name: value for name, value in given.items() if _is_plain(value)}
    state = {
        "format": FORMAT,
        "schema": SCHEMA,
        "estimator": type(model).__name__,
        "options": options,
        "encoder": encoder_state(model.encoder_),
        "family": model._family.name,
        "parameters": model._parameters.tolist(),
        "level_weight": model._level_weight.tolist(),
        "history": [asdict(done) for done in model.history_],
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "smoothness": _smoothness_state(model._smoothness),
        **model._own_facts(),
    }
    with whole_file(path, overwrite=overwrite) as temporary:
        temporary.write_text(json.dumps(state, indent=1, allow_nan=False), encoding="utf-8")


def read_state(path: Path) -> dict[str, Any]:
    """What is in a file that ``write_model`` wrote."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SavedFileError(f"{path}: there is no such file") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise SavedFileError(f"{path}: not JSON ({error}); was the file cut off?") from None
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise SavedFileError(f"{path}: this is not a file that a linear model's save wrote (no format {FORMAT!r})")
    if state.get("schema") != SCHEMA:
        raise SavedFileError(
            f"{path}: schema {state.get('schema')!r} is unknown here, {SCHEMA} is the newest; update softbin"
        )
    return state


def fill_model(model: "LinearModel", state: dict[str, Any], path: Path) -> None:
    """Makes an unfitted model the one that was saved."""
    try:
        encoder = encoder_from_state(state["encoder"])
        options = {name: _from_plain(value) for name, value in state["options"].items()}
        options.setdefault("bins", encoder)
        model.set_params(**options)
        parameters = np.array(state["parameters"], np.float64)
        weight = np.array(state["level_weight"], np.float64)
        if parameters.ndim != 2 or parameters.shape[1] != encoder.n_parameters_ + 1:
            raise ValueError(f"{parameters.shape} coefficients for {encoder.n_parameters_} levels")
        if len(weight) != encoder.n_parameters_ or not np.all(np.isfinite(parameters)):
            raise ValueError("coefficients or weights are not one finite number per level")
        history = [Pass(**done) for done in state["history"]]
        smoothness = _smoothness_from(state.get("smoothness"))
        fit = LinearFit(parameters, weight, history, int(state["n_iter"]), bool(state["converged"]), smoothness)
        model._set_fitted(encoder, FAMILIES[state["family"]], fit)
        model._set_own_facts(state, fit)
    except (KeyError, TypeError, ValueError, AttributeError, SoftbinError) as error:
        raise SavedFileError(f"{path}: the file is damaged: {error}") from None


def _smoothness_state(found: Smoothness | None) -> dict[str, Any] | None:
    """Strengths as text, because the strength of a straight line may be infinite and JSON knows no such number."""
    if found is None:
        return None
    edf = None if found.edf is None else found.edf.tolist()
    parts = found.covariance
    covariance = None if parts is None else [[matrix.tolist() for matrix in column] for column in parts]
    strengths = [str(float(s)) for s in found.strengths]
    return {"strengths": strengths, "edf": edf, "covariance": covariance, "unit": found.unit}


def _smoothness_from(state: dict[str, Any] | None) -> Smoothness | None:
    if state is None:
        return None
    edf = None if state["edf"] is None else np.array(state["edf"], np.float64)
    parts = state["covariance"]
    covariance = None if parts is None else [[np.array(m, np.float64) for m in column] for column in parts]
    strengths = np.array([float(s) for s in state["strengths"]])
    return Smoothness(strengths, edf, covariance, float(state.get("unit", 1.0)))


def _plain(value: Any) -> Any:
    """Options by column as pairs, because a position is no key to JSON; numbers of NumPy as Python's."""
    if isinstance(value, Mapping):
        return {PAIRS: [[_plain(key), _plain(item)] for key, item in value.items()]}
    return value.item() if isinstance(value, np.generic) else value


def _from_plain(value: Any) -> Any:
    if isinstance(value, dict) and isinstance(value.get(PAIRS), list):
        return dict(value[PAIRS])
    return value


def _is_plain(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError):
        return False
