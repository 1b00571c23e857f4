# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types unit bench bench-scale clean

demo: $(VENV)/.core
	$(BIN)/tamis learn examples/sprinkler.csv

test: lint types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

# Tests start a hundred processes: sources are compiled once, not by each of them.
unit: $(VENV)/.dev
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n auto --dist worksteal

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.run

# Up to 50 million rows, up to 10 000 columns, and Dask: half an hour, and a gigabyte of disk for a
# while.
bench-scale: $(VENV)/.dev
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.wide
	$(BIN)/python -m benchmarks.cluster

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.core: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[plot]'
	touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@ $(VENV)/.core

$(VENV)/.bench: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[bench]'
	touch $@ $(VENV)/.core

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
	find src tests -name __pycache__ -prune -exec rm -rf {} +
