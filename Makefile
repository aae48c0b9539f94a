# Two commands for a newcomer: `make demo` and `make test`. Both build everything they need.
PYTHON ?= python3
ENV := .venv
RUN := $(ENV)/bin
PIP := $(RUN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt
SOURCES := $(wildcard cpp/*.cpp cpp/*.hpp) CMakeLists.txt pyproject.toml constraints.txt

.PHONY: demo paper test test-numpy lint format bench bench-linear bench-labels clean

demo: $(ENV)/built  ## the paper computed again at a newcomer's size: a table, a figure and a page, in demo_output/
	$(RUN)/softbin paper --rows 60000 --seeds 2 --jobs 2 --out demo_output $(ARGS)

test: $(ENV)/built  ## the whole test suite, with the compiled kernels
	$(RUN)/python -m pytest -n auto --dist worksteal $(ARGS)

test-numpy: $(ENV)/built  ## the whole test suite but timings, through the NumPy definitions
	SOFTBIN_KERNELS=numpy $(RUN)/python -m pytest -n auto --dist worksteal -m "not timing" $(ARGS)

lint: $(ENV)/linters  ## style, types, and the one-way flow of data
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/lint-imports

format: $(ENV)/linters
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

paper: $(ENV)/built  ## the linear half of the paper's tables at its own size; needs 3 GB of disk
	$(RUN)/softbin paper --rows 10500000 --models lr --only "lr paper" --jobs 2 --out paper_output \
		--tables docs/results/paper/linear $(ARGS)

bench: $(ENV)/built  ## measure against scikit-learn; writes docs/results/
	$(RUN)/python -m benchmarks.core

bench-linear: $(ENV)/built  ## the linear models against scikit-learn, and glum and LightGBM where installed
	$(RUN)/python -m benchmarks.linear

bench-labels: $(ENV)/built  ## rules that look at the label, MultiBins, and optbinning where installed
	$(RUN)/python -m benchmarks.labels

$(ENV)/bin/python:
	$(PYTHON) -m venv $(ENV)

# Why: the build tools come from the constraints file too, hence no isolation.
$(ENV)/built: $(SOURCES) | $(ENV)/bin/python
	$(PIP) scikit-build-core nanobind cmake ninja pathspec pyproject-metadata
	PATH="$(CURDIR)/$(RUN):$$PATH" $(PIP) --no-build-isolation --editable ".[test]"
	touch $@

$(ENV)/linters: $(ENV)/built
	$(PIP) import-linter mypy ruff
	touch $@

clean:
	rm -rf $(ENV) build
