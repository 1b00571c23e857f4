# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

UV := build/tools/bin/uv
TESTS ?= tests
VERSIONS ?= 3.11 3.12 3.13 3.14
# Tests start a hundred processes: sources are compiled once, not by each of them.
export PYTHONDONTWRITEBYTECODE :=
SUITE := -m pytest -q -n auto --dist worksteal

.PHONY: demo test lint types unit slow test-lowest test-versions dist docs study yardstick clean

demo: $(VENV)/.core
	$(BIN)/tamis learn examples/sprinkler.csv

test: lint types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

unit: $(VENV)/.dev
	$(BIN)/python $(SUITE) -m "not slow" $(TESTS)

# A browser, clusters, hostile command lines, the wheel in an empty environment: minutes more.
slow: $(VENV)/.dev
	$(BIN)/python $(SUITE) -m slow $(TESTS)

# With the lowest version of everything that pyproject.toml names, on the lowest Python. Old packages
# may speak to newer ones in ways that these deprecate; typer before 0.26 loses the help of arguments
# with click 8.5, and later ones have no need of click.
test-lowest: $(UV)
	$(UV) venv --quiet --clear --python 3.11 build/lowest
	$(UV) pip install --quiet --python build/lowest --resolution lowest-direct -e '.[dev]' 'click==8.4.2'
	NUMBA_CACHE_DIR=$(CURDIR)/build/lowest/loops build/lowest/bin/python $(SUITE) -m "not slow" \
	  -W default::DeprecationWarning $(TESTS)

# With each Python that is here or that uv can download; the others are named and left out.
test-versions: $(UV)
	@passed=; missing=; for version in $(VERSIONS); do \
	  there=build/python$$version; \
	  own=$$(ls $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$$version.*/bin/python 2>/dev/null | tail -1); \
	  if ! $(UV) venv --quiet --clear --python $${own:-$$version} $$there; then missing="$$missing $$version"; continue; fi; \
	  $(UV) pip install --quiet --python $$there -e '.[dev]' || exit 1; \
	  echo "== Python $$version"; \
	  NUMBA_CACHE_DIR=$(CURDIR)/$$there/loops $$there/bin/python $(SUITE) -m "not slow" $(TESTS) || exit 1; \
	  passed="$$passed $$version"; \
	done; echo "passed:$${passed:- none}; not to be had here:$${missing:- none}"; test -n "$$passed"

# What is uploaded to PyPI, and whether PyPI would show it.
dist: $(UV)
	rm -rf dist
	$(UV) build --quiet
	$(UV) tool run --quiet twine check --strict dist/*

# The documentation site, in site/; runs the examples of the gallery.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The paper's study in small, with Figures 1 and 2 in build/study: two minutes. study/README.md has
# the others.
study: $(VENV)/.study
	$(BIN)/python -m study figure1
	$(BIN)/python -m study paper --quick

# How good and how quick the default is, on some fifty tables.
yardstick: $(VENV)/.study
	$(BIN)/python -m study.yardstick --quick

$(UV):
	$(PYTHON) -m venv build/tools
	$(dir $(UV))python -m pip install --quiet uv

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.core: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[plot]'
	touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@ $(VENV)/.core

$(VENV)/.docs: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	touch $@ $(VENV)/.core

$(VENV)/.study: $(BIN)/python pyproject.toml study/requirements.txt
	$(BIN)/python -m pip install --quiet -e '.[plot]' -r study/requirements.txt
	touch $@ $(VENV)/.core

clean:
	rm -rf $(VENV) build site .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
	find src tests -name __pycache__ -prune -exec rm -rf {} +
