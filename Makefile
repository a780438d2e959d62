PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Tests often wait for a browser or another process, so three of their processes fill two cores.
TESTERS ?= 3
ROWS   ?= 1e7
N      ?= 1000

.DEFAULT_GOAL := help
.PHONY: help demo test slow fuzz lint bench docs dist clean

help:  ## list the targets
	@awk -F ':.*## *' '/^[a-z]+:.*##/ {printf "  make %-7s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.demo  ## install what is needed and run the whole journey on synthetic data
	$(BIN)/groupcm demo -o demo

test: $(VENV)/.test  ## install what is needed and run all tests except the slow ones
	@sh tests/install_chromium.sh
	$(BIN)/python -m pytest -n $(TESTERS) --dist worksteal -m "not slow"

slow: $(VENV)/.test  ## run the slow tests, which CI runs too
	@sh tests/install_chromium.sh
	$(BIN)/python -m pytest -n $(TESTERS) --dist worksteal -m slow

fuzz: $(VENV)/.test  ## try N=1000 random problems and damaged files, each in its own process; SEED= repeats a run
	$(BIN)/python -m tests.fuzz --cases $(N) $(if $(SEED),--seed $(SEED))

lint: $(VENV)/.lint  ## check formatting, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

bench: $(VENV)/.bench  ## print the benchmark table; ROWS=1e8 for the large one
	$(BIN)/python -m benchmarks --rows $(ROWS) --json bench.json
	$(BIN)/python -m benchmarks.scale --rows $(ROWS) --json bench-scale.json

docs: $(VENV)/.docs  ## build the documentation site in docs/_build/html; BROWSER=1 also checks it in Chromium
	$(if $(BROWSER),@sh tests/install_chromium.sh)
	rm -rf docs/_build docs/gallery docs/api/generated
	MPLBACKEND=agg $(BIN)/python -m sphinx -b html --fail-on-warning --keep-going --quiet docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html $(if $(BROWSER),--browser)

dist: $(VENV)/.dist  ## build the wheel and the source distribution, and check both
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

clean:  ## remove the environment and what the other targets made
	rm -rf $(VENV) demo bench.json bench-scale.json .pytest_cache .ruff_cache .hypothesis .numba_cache .fuzz dist docs/_build docs/gallery docs/api/generated

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "groupcm needs Python 3.11 or later; name one with: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: extras = cli,images,report
$(VENV)/.test: extras = test
$(VENV)/.lint: extras = test,lint
$(VENV)/.bench: extras = bench
$(VENV)/.dist: extras = dist
$(VENV)/.docs: extras = docs
$(VENV)/.demo $(VENV)/.test $(VENV)/.lint $(VENV)/.bench $(VENV)/.dist $(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[$(extras)]'
	@touch $@
