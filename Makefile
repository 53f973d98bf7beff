# make run      the app in your browser        make run PORT=8600, make run ADDRESS=0.0.0.0 for a class
# make test     everything: lint, types, tests in Python and in Chromium
# make check    lint, types and the borders of the house
# make bench    the benchmarks, each a table of ratios
# make format   formats the code               make clean    removes what the others made, but no runs
#
# Each makes its own environment, .venv, the first time and when the requirements have changed.

PYTHON ?=
PORT ?= 8501
ADDRESS ?=
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
WORKERS ?= 2
# make test PYTEST=--cov also says which lines, of the tests too, never ran; it takes three times as long
PYTEST ?=
export PYTHON TORCH_INDEX

# by module, not by script: a script holds the folder that it was installed in, and checkouts move
PY = .venv/bin/python -m
LINT = $(PY) ruff check . && $(PY) ruff format --check . && $(PY) mypy

.PHONY: run test check bench format clean

run:
	@.ci/environment run
	@trap 'echo "rnnviz has stopped."; exit 0' INT; port=$$(.venv/bin/python .ci/port.py "$(PORT)") && \
	$(PY) streamlit run app.py --server.port "$$port" $(if $(ADDRESS),--server.address "$(ADDRESS)")

test:
	@.ci/environment test
	$(LINT)
	$(PY) pytest -n $(WORKERS) --no-loadscope-reorder $(PYTEST)

check:
	@.ci/environment check
	$(LINT)
	$(PY) pytest tests/test_house.py

bench:
	@.ci/environment test
	@files=$$(grep -ls '^def main' benchmarks/*.py); \
	if [ -z "$$files" ]; then echo "There is no benchmark yet: no benchmarks/*.py has a main."; fi; \
	for file in $$files; do echo "== $$file"; PYTHONPATH=. .venv/bin/python "$$file" || exit 1; done

format:
	@.ci/environment check
	$(PY) ruff check --fix .
	$(PY) ruff format .

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.* .screenshots
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
