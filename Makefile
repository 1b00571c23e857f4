# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

UV := build/tools/bin/uv
TESTS ?= tests
VERSIONS ?= 3.11 3.12 3.13 3.14
# What compiles the core: build-system.requires of pyproject.toml, and what these call.
BUILD := 'scikit-build-core>=0.11' 'cython>=3.1' 'scipy>=1.13' 'cmake>=3.26' ninja
# Tests start a hundred processes: sources are compiled once, not by each of them.
export PYTHONDONTWRITEBYTECODE :=
SUITE := -m pytest -q -n auto --dist worksteal

.PHONY: core demo test sanitize lint types unit slow test-lowest test-versions dist docs study yardstick clean

demo: core
	$(BIN)/tamis learn examples/sprinkler.csv

# Compiles again what has changed of src/tamis/core.
core: $(VENV)/.core
	@$(BIN)/cmake --build build/core -- --quiet

test: lint types unit

# The tests of the core, stopped at the first use of memory or arithmetic that C++ leaves undefined. The
# module lies in an environment of its own, which borrows the packages of $(VENV). Python itself keeps
# memory until it ends, so leaks are not looked for.
CHECKED := build/sanitize
RUNTIMES = $(foreach name,asan stdc++,$(shell $(CXX) -print-file-name=lib$(name).so))
sanitize: $(VENV)/.dev
	$(BIN)/python -m venv --clear --without-pip $(CHECKED)
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
	  "$$($(CHECKED)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/borrowed.pth"
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip --python $(CHECKED)/bin/python install --quiet \
	  --no-build-isolation --no-deps --force-reinstall -C cmake.define.SANITIZE=ON -C install.strip=false .
	LD_PRELOAD="$(RUNTIMES)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  $(CHECKED)/bin/python -m pytest -q -s -p no:xdist $(or $(filter-out tests,$(TESTS)),tests/core)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

unit: core $(VENV)/.dev
	$(BIN)/python $(SUITE) -m "not slow" $(TESTS)

# A browser, clusters, hostile command lines, the wheel in an empty environment: minutes more.
slow: core $(VENV)/.dev
	$(BIN)/python $(SUITE) -m slow $(TESTS)

# With the lowest version of everything that pyproject.toml names, on the lowest Python. Old packages
# may speak to newer ones in ways that these deprecate; typer before 0.26 loses the help of arguments
# with click 8.5, and later ones have no need of click.
test-lowest: $(UV)
	$(UV) venv --quiet --clear --python 3.11 build/lowest
	$(UV) pip install --quiet --python build/lowest --resolution lowest-direct \
	  --refresh-package tamis '.[dev]' 'click==8.4.2'
	NUMBA_CACHE_DIR=$(CURDIR)/build/lowest/loops build/lowest/bin/python $(SUITE) -m "not slow" \
	  -W default::DeprecationWarning $(TESTS)

# With each Python that is here or that uv can download; the others are named and left out.
test-versions: $(UV)
	@passed=; missing=; for version in $(VERSIONS); do \
	  there=build/python$$version; \
	  own=$$(ls $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$$version.*/bin/python 2>/dev/null | tail -1); \
	  if ! $(UV) venv --quiet --clear --python $${own:-$$version} $$there; then missing="$$missing $$version"; continue; fi; \
	  $(UV) pip install --quiet --python $$there --refresh-package tamis '.[dev]' || exit 1; \
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
docs: core $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The paper's study in small, with Figures 1 and 2 in build/study: two minutes. study/README.md has
# the others.
study: core $(VENV)/.study
	$(BIN)/python -m study figure1
	$(BIN)/python -m study paper --quick

# How good and how quick the default is, on some fifty tables.
yardstick: core $(VENV)/.study
	$(BIN)/python -m study.yardstick --quick

$(UV):
	$(PYTHON) -m venv build/tools
	$(dir $(UV))python -m pip install --quiet uv

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# Without build isolation, so that what compiles is still there when a header changes. The rest comes
# by the name of what is then installed, with isolation: others may have to be built their own way.
$(VENV)/.core: $(BIN)/python pyproject.toml CMakeLists.txt
	$(BIN)/python -m pip install --quiet $(BUILD)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --no-build-isolation --no-deps -e .
	$(BIN)/python -m pip install --quiet 'tamis[plot]'
	touch $@

$(VENV)/.dev $(VENV)/.docs: $(VENV)/.%: $(VENV)/.core
	$(BIN)/python -m pip install --quiet 'tamis[$*]'
	touch $@

$(VENV)/.study: $(VENV)/.core study/requirements.txt
	$(BIN)/python -m pip install --quiet -r study/requirements.txt
	touch $@

clean:
	rm -rf $(VENV) build src/tamis/core/*.so src/tamis/core/*.pyd site .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
	find src tests -name __pycache__ -prune -exec rm -rf {} +
