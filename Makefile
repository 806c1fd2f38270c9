# make run, make test: nothing else to set up. PYTHON=<interpreter> uses what that interpreter has
# installed already, and installs nothing.

SYSTEM_PYTHON ?= python3
TEST_ARGS ?= -n auto
VENV := .venv

ifdef PYTHON
export PYTHONPATH := $(CURDIR)$(addprefix :,$(PYTHONPATH))
else
PYTHON := $(VENV)/bin/python
CUDA_EXTRA := $(shell $(SYSTEM_PYTHON) tools/cuda_extra.py)
TEST_EXTRAS := test,$(or $(CUDA_EXTRA),compile)
RUN_READY := $(VENV)/ready-$(or $(CUDA_EXTRA),base)
TEST_READY := $(VENV)/ready-$(TEST_EXTRAS)
LINT_READY := $(VENV)/ready-lint
DOCS_READY := $(VENV)/ready-docs
endif

.PHONY: run test lint docs clean
.DELETE_ON_ERROR:

run: $(RUN_READY)
	@$(PYTHON) -m batchlas_py.cli demo

test: $(TEST_READY)
	$(PYTHON) -m pytest $(TEST_ARGS)

lint: $(LINT_READY)
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m mypy
	$(PYTHON) -c "from importlinter.cli import lint_imports_command as main; main()"
	$(PYTHON) tools/check_comment_density.py --self-test
	$(PYTHON) tools/check_comment_density.py

docs: $(DOCS_READY)
	$(PYTHON) -m sphinx -W --keep-going -b html docs build/docs

clean:
	rm -rf $(VENV) build dist

$(RUN_READY): EXTRAS := $(CUDA_EXTRA)
$(TEST_READY): EXTRAS := $(TEST_EXTRAS)
$(LINT_READY): EXTRAS := lint,$(TEST_EXTRAS)
$(DOCS_READY): EXTRAS := docs,$(TEST_EXTRAS)

$(RUN_READY) $(TEST_READY) $(LINT_READY) $(DOCS_READY): pyproject.toml | $(VENV)/bin/python
	@echo "Installing batchlas_py$(EXTRAS:%=[%]) into $(VENV)"
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable '.$(EXTRAS:%=[%])'
	@touch $@

$(VENV)/bin/python:
	$(SYSTEM_PYTHON) -m venv $(VENV)
