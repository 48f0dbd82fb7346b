.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
SHELL := /bin/bash

PYTHON ?= python3
CORES := $(shell getconf _NPROCESSORS_ONLN)
# One more than there are cores: tests that wait for servers and ends leave one idle else.
JOBS ?= $(shell expr $(CORES) + 1)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# pytest keeps the test files, and the plug-ins, that it has rewritten: else it does so every time.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -q
# Files stay together, so that what their tests share is made, imported and compiled once; a process
# that is through first takes over from the others.
SPREAD = -n $(JOBS) --dist worksteal
# With the compiler, tests that need the same loop are one group in one process: so that it is
# compiled once. They run beside the quick suite, so they get half of the cores.
GROUPS = -n $(shell expr \( $(CORES) + 1 \) / 2) --dist loadgroup

# The build backend comes from the lock; its remarks on editable installs are no news.
INSTALL_SELF := PYTHONWARNINGS=ignore $(PIP) install --no-deps --no-build-isolation --editable .

# The bounds-checked kernels have a cache of their own, keyed by our sources: Numba's key
# knows neither the switch nor the callees in other modules.
CHECKED := $(CURDIR)/.pytest_cache/checked-kernels
SOURCES_SUM = $$(find askwise -name '*.py' | LC_ALL=C sort | xargs cat | cksum | cut -d' ' -f1)

# The files that have tests with a mark: to collect all the others takes ten seconds.
MARKED = $$(grep -rl --include='test_*.py' 'mark\.$(1)\b' tests)

# Without a server, a browser or a model the tests that need one are skipped, and say so.
GET_SERVER = $(BIN)/python scripts/postgres.py install
GET_BROWSER = $(BIN)/python scripts/browser.py install
GET_MODEL = $(BIN)/python scripts/real_model.py install
# A gigabyte: for the slow tests alone.
GET_LABEL_STUDIO = $(BIN)/python scripts/label_studio.py install

.PHONY: help demo demo-live serve test test-slow lint format bench reproduce docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.demo-ready ## label 400 messages on this machine, certify them, report to demo-out/
	@$(BIN)/askwise demo --out demo-out

demo-live: .venv/.serve-ready ## watch a labelling campaign on the dashboard; Ctrl-C ends it
	@$(BIN)/askwise demo-live

# STORE=postgresql://... serves another store; SERVE="--port 9000" adds options of askwise serve.
serve: .venv/.serve-ready ## serve campaigns: API, page for workers, dashboard; Ctrl-C ends it
	@$(BIN)/askwise serve $(if $(STORE),--store $(STORE)) $(SERVE)

test: .venv/.ready ## run the quick suite, and with the compiler what is about compiling
	@$(GET_SERVER)
	@$(GET_BROWSER)
	@$(GET_MODEL)
	@mkdir -p .pytest_cache; said=$$(mktemp .pytest_cache/compiled.XXXXXX); \
	$(MAKE) -j 2 --output-sync test-compiled test-bounds > "$$said" 2>&1 & compiled=$$!; \
	$(MAKE) test-quick; quick=$$?; \
	wait $$compiled; compiled=$$?; cat "$$said"; rm "$$said"; exit $$((quick || compiled))

# What test is made of. What compiles runs beside the quick suite and ends before it does: no core
# waits for the last tests of one part before the next begins. What they say comes at the end.
.PHONY: test-quick test-compiled test-bounds
test-quick: .venv/.ready
	@echo "== quick suite and docstrings, without the compiler"
	@$(PYTEST) $(SPREAD)

test-compiled: .venv/.ready
	@echo "== what is about compiling"
	@ASKWISE_JIT= $(PYTEST) $(call MARKED,compiled) $(GROUPS) -m "compiled and not slow and not checked"

# CHECK chooses among the tests marked checked; test-slow leaves none of them out, and runs them
# without the checks too: here that would compile every loop twice.
test-bounds: CHECK = checked and not slow
test-bounds: .venv/.ready
	@echo "== compiled loops with array bounds checked"
	@sum=$(SOURCES_SUM); mkdir -p "$(CHECKED)/$$sum"; \
	find "$(CHECKED)" -mindepth 1 -maxdepth 1 ! -name "$$sum" -exec rm -rf {} +; \
	ASKWISE_JIT= NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR="$(CHECKED)/$$sum" \
		$(PYTEST) $(call MARKED,checked) $(GROUPS) -m "$(CHECK)"

# What passed is on record, by the sources that it passed at: a run that was ended, or that failed,
# continues where it stopped. FRESH=1 starts over.
SLOW := .pytest_cache/slow
RECORD = -p tests.resuming --record $(SLOW)/$(1).jsonl
PARTS := plain compiled bounds

test-slow: .venv/.ready ## run every test, the slow ones too; continues where it stopped (FRESH=1: from the start)
	@$(GET_SERVER)
	@$(GET_BROWSER)
	@$(GET_MODEL)
	@$(GET_LABEL_STUDIO)
	@$(if $(FRESH),rm -rf $(SLOW))
	@failed=; for part in $(PARTS); do $(MAKE) test-slow-$$part || failed="$$failed $$part"; done; \
	echo "== the slow suite"; $(BIN)/python -m tests.resuming $(PARTS:%=$(SLOW)/%.jsonl); \
	[ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

.PHONY: test-slow-plain test-slow-compiled test-slow-bounds
test-slow-plain: .venv/.ready
	@echo "== all tests, without the compiler"
	@HYPOTHESIS_PROFILE=slow $(PYTEST) $(call RECORD,plain) $(SPREAD) -m "not compiled"

test-slow-compiled: .venv/.ready
	@echo "== what is about compiling, the slow tests too"
	@ASKWISE_JIT= HYPOTHESIS_PROFILE=slow $(PYTEST) $(call RECORD,compiled) \
		$(call MARKED,compiled) $(SPREAD) -m compiled

test-slow-bounds: .venv/.ready
	@$(MAKE) test-bounds CHECK=checked GROUPS="$(SPREAD) $(call RECORD,bounds)"

lint: .venv/.ready ## check style, format, types, the direction of imports, and that tests are found
	@$(MAKE) -j $(JOBS) --output-sync lint-types lint-rest lint-tests

# Types take longer than all the rest, so they are checked beside it.
.PHONY: lint-types lint-rest lint-tests
lint-types: .venv/.ready
	@echo "== mypy";         $(BIN)/mypy

lint-rest: .venv/.ready
	@echo "== ruff";         $(BIN)/ruff check --quiet .
	@echo "== ruff format";  $(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }
	@echo "== lint-imports"; $(BIN)/lint-imports --no-logo
	@echo "== floor plan";   $(BIN)/python scripts/floor_plan.py > /dev/null || { $(BIN)/python scripts/floor_plan.py | tail -3; exit 1; }
	@echo "== prose";        $(BIN)/python scripts/prose.py

# What pytest has rewritten here, the processes of a test run need not each rewrite once more.
lint-tests: .venv/.ready
	@echo "== every test can be found"
	@found=$$($(PYTEST) --collect-only -m "") || { tail -40 <<< "$$found"; exit 1; }

format: .venv/.ready ## put the code into the house format
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .

bench: .venv/.ready ## measure speed
	@$(BIN)/python -m benchmarks

# NAME="bounded-table1 judges", SEED=2, REPS=100, DATA=FOLDER (recorded data), KEEP=1, RENEW=1.
# What agreed is on record, with the code that it agreed with. Without NAME, what is on record and
# has not changed since is left out; FRESH=1 runs all of it again.
AGREED := docs/assets/reproductions/agreed.jsonl
reproduce: .venv/.ready ## run experiments again and compare them with the results kept in docs/
	@$(BIN)/python -m docs.reproduce $(NAME) --jobs $(CORES) --record $(AGREED) \
		$(if $(FRESH),--fresh) $(if $(SEED),--seed $(SEED)) $(if $(REPS),--reps $(REPS)) \
		$(if $(DATA),--set data=$(DATA)) $(if $(KEEP),--keep) $(if $(RENEW),--renew)

docs: .venv/.ready ## generate and build the documentation into site/
	@$(BIN)/python -m docs.site
	@echo "open site/index.html"

# Versions stay as they are unless a requirement asks otherwise; UPGRADE=1 takes the newest.
COMPILE = $(BIN)/uv pip compile pyproject.toml - --universal --python-version 3.11 \
	--generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	--quiet $(if $(UPGRADE),--upgrade)

lock: | .venv/bin/python ## write the lock files again (UPGRADE=1: with the newest versions)
	@[ -x $(BIN)/uv ] || $(PIP) install uv
	@echo 'setuptools>=77' | $(COMPILE) --all-extras --output-file requirements.lock >/dev/null
	@echo 'setuptools>=77' | $(COMPILE) --extra lab --extra judges --constraint requirements.lock \
		--output-file requirements-demo.lock >/dev/null
	@echo 'setuptools>=77' | $(COMPILE) --extra service --extra postgres \
		--constraint requirements.lock --output-file requirements-serve.lock >/dev/null
	@! grep -nE 'https?://|^ *-[-a-z]' requirements*.lock | grep -v -- '--hash=' \
		|| { echo "a lock file names a host or an option"; exit 1; }

clean: ## remove what was built, keep .venv
	@rm -rf build dist site demo-out *.egg-info .pytest_cache .mypy_cache .ruff_cache \
		.import_linter_cache .hypothesis
	@find askwise tests benchmarks docs scripts -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("askwise needs Python 3.11 or newer; try make PYTHON=python3.11")'
	@echo "== creating .venv"
	@$(PYTHON) -m venv .venv

# What the demonstration needs: the library, its lab and what calls models.
.venv/.demo-ready: pyproject.toml requirements-demo.lock | .venv/bin/python
	@echo "== installing askwise, its lab and what calls models into .venv"
	@$(PIP) install --require-hashes -r requirements-demo.lock
	@$(INSTALL_SELF)
	@touch $@

# What serving needs, here and in deploy/: the service and PostgreSQL's driver.
.venv/.serve-ready: pyproject.toml requirements-serve.lock | .venv/bin/python
	@echo "== installing askwise and its service into .venv"
	@$(PIP) install --require-hashes -r requirements-serve.lock
	@$(INSTALL_SELF)
	@touch $@

# Everything; the same versions as the demonstration's.
.venv/.ready: pyproject.toml requirements.lock requirements-demo.lock requirements-serve.lock | .venv/bin/python
	@echo "== installing askwise, its extras and the development tools into .venv"
	@$(PIP) install --require-hashes -r requirements.lock
	@$(INSTALL_SELF)
	@touch .venv/.demo-ready .venv/.serve-ready $@
