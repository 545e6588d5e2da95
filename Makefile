# Two commands do everything on a machine with Python >= 3.11 and make:
#   make demo   sets up and runs the main job
#   make test   sets up and runs the tests of every landing
PYTHON  ?= python3
VENV    ?= .venv
BIN     := $(VENV)/bin
# The tests of the page need a browser: the machine's own, or Debian's as root, or the one that Playwright keeps.
BROWSER := command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing chromium ..." \
       && apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium >/dev/null; } \
  || $(BIN)/playwright install chromium
# Modules are compiled once, by whoever reads them first, also where the environment asks for the contrary.
export PYTHONDONTWRITEBYTECODE :=
PIP     := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile --constraint constraints.txt

# Two readers of types beside each other, on two cores: numbers, and all the rest.
NUMBERS := $(addprefix src/guessproof/,risk world)
REST    := $(filter-out $(NUMBERS) %/__pycache__ %/py.typed,$(wildcard src/guessproof/*))
TYPES   := $(BIN)/basedpyright --pythonpath $(BIN)/python

.PHONY: help demo test test-all explore check numbers rest bench mutants format clean
.DEFAULT_GOAL := help

help:  ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/.run  ## the cafeteria story from end to end
	$(BIN)/guessproof demo

test: $(VENV)/.test  ## what protects users, doctests included: all tests but tests/deep
	$(BIN)/python -m pytest -n auto --dist worksteal --ignore=tests/deep

test-all: $(VENV)/.test  ## every test
	$(BIN)/python -m pytest -n auto --dist worksteal

explore: $(VENV)/.test  ## every test with new and many more drawn cases; takes hours
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -n auto --dist worksteal

check: $(VENV)/.check  ## style, types, architecture; doctests are among the tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(MAKE) --jobs=2 numbers rest

numbers: $(VENV)/.check
	$(TYPES) $(NUMBERS)

rest: $(VENV)/.check
	$(TYPES) $(REST)

bench: $(VENV)/.bench  ## measured speed, as ratios within one run
	$(BIN)/python benchmarks/run.py

mutants: $(VENV)/.mutants  ## plants mistakes and counts which the tests catch; takes hours
	$(BIN)/python tools/mutants.py

format: $(VENV)/.check  ## apply the style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "guessproof needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "could not create a virtual environment; on Debian: apt-get install python3-venv"; exit 1; }

$(VENV)/.run: $(BIN)/python pyproject.toml constraints.txt
	@echo "setting up the environment in $(VENV) ..."
	$(PIP) --editable .
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml constraints.txt $(VENV)/.java
	@echo "setting up the environment in $(VENV) ..."
	$(PIP) --editable '.[test]'
	@$(BROWSER) || { echo "no browser for the tests of the page; install chromium"; exit 1; }
	@touch $@

# Spark runs on Java 17 or 21: looked for, and on Debian or Ubuntu installed where we may.
JAVA := java -version 2>&1 | grep -Eq 'version "(17|21)'
$(VENV)/.java: $(BIN)/python
	@$(JAVA) || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq && \
	  { apt-get install -y -qq openjdk-17-jre-headless || apt-get install -y -qq openjdk-21-jre-headless; }; } || true
	@$(JAVA) || { echo "the tests of Spark need Java 17 or 21: apt-get install -y openjdk-17-jre-headless"; exit 1; }
	@touch $@

# What the package imports, so that its types are known; neither a browser nor Java.
$(VENV)/.check: $(BIN)/python pyproject.toml constraints.txt
	@echo "setting up the environment in $(VENV) ..."
	$(PIP) --editable '.[check]'
	@touch $@

$(VENV)/.bench: $(VENV)/.run
	$(PIP) --editable '.[bench]'
	@touch $@

$(VENV)/.mutants: $(VENV)/.test
	$(PIP) --editable '.[test,mutants]'
	@touch $@

clean:  ## remove everything that was set up
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
