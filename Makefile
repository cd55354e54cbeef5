# Two commands: `make run` opens the dashboard, `make test` proves it. `make` alone lists the rest.
#
#   make run PORT=8600     another port            make run HEADLESS=1   do not open a browser
#   make class             thirty laptops watch     make class ADDRESS=192.168.1.34  on that network
#   make train PROCESSES=2 a run without the dashboard, in two processes (SHARDING=fsdp2, PRESET=ten-minutes)
#   make run TORCH=cpu     torch's CPU build: a far smaller download on Linux without an NVIDIA GPU

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TORCH ?= default
JOBS ?= 2
# Rewritten tests are kept, else every run and every process that a test starts compiles all again.
unexport PYTHONDONTWRITEBYTECODE
TORCH_VERSION := $(shell sed -n 's/^torch==//p' requirements.txt)

# Only Linux has separate CPU wheels; elsewhere the default build is already small.
ifeq ($(TORCH)-$(shell uname -s),cpu-Linux)
TORCH_WHEEL := --extra-index-url https://download.pytorch.org/whl/cpu torch==$(TORCH_VERSION)+cpu
endif

SERVER_OPTIONS := $(if $(PORT),--server.port $(PORT)) $(if $(HEADLESS),--server.headless true)
CLASS_OPTIONS := $(if $(ADDRESS),--address $(ADDRESS)) $(if $(PORT),--port $(PORT)) $(if $(HEADLESS),--headless)
TRAIN_OPTIONS := $(if $(PRESET),--preset $(PRESET)) $(if $(PROCESSES),--processes $(PROCESSES)) $(if $(SHARDING),--sharding $(SHARDING))
# First looks measure no cost, recordings are made only to be committed; the proof on a GPU is a
# command of its own.
NOT_MEASURED := $(addprefix benchmarks/,first_look.py gpu_proof.py record_%.py streamlit_client.py measuring.py)
FAST_TESTS := -m "not browser and not slow"
say = @printf '\n\033[1m== %s\033[0m\n' "$(1)"

.PHONY: help run class train dev test check bench gpu-proof translations format lint imports types tests browser-tests browser clean
.DEFAULT_GOAL := help

help:  ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST) | expand -t 22

run: $(VENV)/installed-$(TORCH)  ## set up what is missing, then open the dashboard
	@exec $(BIN)/streamlit run app.py $(SERVER_OPTIONS)

class: $(VENV)/installed-$(TORCH)  ## open it for a class: address, QR code and teacher's PIN (ADDRESS=, PORT=)
	@exec $(BIN)/python classroom.py $(CLASS_OPTIONS)

train: $(VENV)/installed-$(TORCH)  ## start a run and print its directory (PROCESSES=, SHARDING=, PRESET=)
	@exec $(BIN)/python -m core.train start $(TRAIN_OPTIONS)

dev: $(VENV)/installed-$(TORCH)  ## run, reload on every change, show full tracebacks
	@exec $(BIN)/streamlit run app.py $(SERVER_OPTIONS) --server.fileWatcherType auto --client.showErrorDetails full

test: $(VENV)/installed-tests lint imports types tests browser-tests  ## set up what is missing, then prove everything
	$(call say,All green)

check: $(VENV)/installed-tests lint imports types  ## the fast part of the proof: under 90 seconds
	$(call say,Fast tests)
	@$(BIN)/pytest -q $(FAST_TESTS) -n $(JOBS)
	$(call say,All green (slow and browser tests run with make test))

format: $(VENV)/installed-tests  ## let ruff put the code in order
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lint: $(VENV)/installed-tests
	$(call say,Format and lint)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

imports: $(VENV)/installed-tests
	$(call say,Import contracts: who may import whom)
	@PYTHONPATH=. $(BIN)/lint-imports

types: $(VENV)/installed-tests
	$(call say,Types)
	@$(BIN)/mypy

# What fails beside others on a busy machine must pass alone, in a second run that names it.
AGAIN = $(BIN)/pytest --last-failed --last-failed-no-failures none --exitfirst -v

tests: $(VENV)/installed-tests
	$(call say,Tests)
	@$(BIN)/coverage erase
	@$(BIN)/pytest -m "not browser" -n $(JOBS) --cov --cov-report= || $(AGAIN) -m "not browser"
	$(call say,Coverage)
	@$(BIN)/coverage report

# Files that train take turns on one core (tests/browser/conftest.py); the others have the second.
browser-tests: $(VENV)/installed-tests browser
	$(call say,Browser tests)
	@$(BIN)/pytest tests/browser -n $(JOBS) --dist loadgroup \
		|| $(AGAIN) tests/browser

# A Chromium or Chrome of this machine if there is one, else Playwright's own, kept in .venv.
browser: $(VENV)/installed-tests
	@$(BIN)/python tests/browser/find_browser.py >/dev/null \
		|| PLAYWRIGHT_BROWSERS_PATH=$(CURDIR)/$(VENV)/playwright $(BIN)/playwright install chromium \
		|| echo "No browser could be installed: the browser tests will be skipped (in CI they fail)."

bench: $(VENV)/installed-tests  ## print what is measured on this machine
	@set -e; for program in $(filter-out $(NOT_MEASURED),$(wildcard benchmarks/*.py)); do printf "\n== %s\n" "$$program"; PYTHONPATH=. $(BIN)/python "$$program"; done

gpu-proof: $(VENV)/installed-tests  ## what a GPU does with our training, in one table (also without a GPU)
	@$(BIN)/python benchmarks/gpu_proof.py $(if $(PEER),--peer $(PEER)) $(if $(SNAPSHOT),--snapshot $(SNAPSHOT))

translations: $(VENV)/installed-tests  ## collect new texts, update and compile the Chinese catalogue
	@$(BIN)/python -m core.language.extract

clean:  ## remove what tests and tools left behind (runs and .venv stay)
	rm -rf build .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# Stamps: a second `make run` finds them and starts at once.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}: try  make run PYTHON=python3.12")'
	@echo "Setting up $(VENV), once: about 1.5 GB on disk (CUDA builds of torch: about 6 GB), some minutes."
	@$(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed: on Debian or Ubuntu, sudo apt install python3-venv"; rm -rf $(VENV); exit 1; }

$(VENV)/installed-$(TORCH): requirements.txt | $(BIN)/python
	@$(BIN)/python -m pip install $(TORCH_WHEEL) -r requirements.txt
	@touch $@

$(VENV)/installed-tests: tests/requirements.txt $(VENV)/installed-$(TORCH)
	@$(BIN)/python -m pip install $(TORCH_WHEEL) -r tests/requirements.txt
	@touch $@
