# make test and make check are what CI runs. PYTHON=python3.13 make test takes another interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD_INPUTS := pyproject.toml setup.py constraints.txt src/refsim/metrics/_automaton.py

.PHONY: help models demo test check bench bench-bertscore bench-compat clean
help:
	@echo 'make demo    score the demo data and show the tables'
	@echo 'make test    every test, slow ones included;  make test ARGS="-m \"not slow\" -k readers"'
	@echo 'make check   lint, format, types, import direction, documentation examples'
	@echo 'make bench   the benchmark tables (minutes; wants an idle machine)'
	@echo 'make bench-bertscore  the same for BERTScore, beside the published code in an environment of its own'
	@echo 'make bench-compat  opik on bert-score and on refsim in its place: equal numbers'
	@echo 'make clean   remove everything that is built'

# A new kernel source, build file or pin rebuilds the extension in place, src/refsim/metrics/_automaton.*.so.
# The old one goes first: without a compiler the new source must run, not a stale extension.
$(VENV)/.ready: $(BUILD_INPUTS)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt 'setuptools>=77' Cython
	rm -rf build src/refsim/metrics/_automaton.*.so src/refsim/metrics/_automaton.*.pyd
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-build-isolation -e '.[dev,bertscore,peers]'
	touch $@

$(VENV)/.bench: $(VENV)/.ready benchmarks/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r benchmarks/requirements.txt
	touch $@

# Two small encoders, fetched once into the user's cache; nothing reaches for a network after that.
models: $(VENV)/.ready
	$(BIN)/refsim models install minilm e5-small-q4

demo test: export HF_HUB_OFFLINE = 1
demo: models
	$(BIN)/python -m refsim.demo

test: models
	$(BIN)/python -m pytest $(ARGS)

check: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest --quiet tests/test_layers.py tests/test_docs.py

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/charsim.py
	$(BIN)/python benchmarks/explain.py

# The published code needs older libraries than refsim is developed with.
.venv-peer/.ready: benchmarks/requirements-bertscore-peer.txt
	test -x .venv-peer/bin/python || $(PYTHON) -m venv .venv-peer
	.venv-peer/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

bench-bertscore: models .venv-peer/.ready
	$(BIN)/python benchmarks/bertscore.py

.venv-compat/.ready: benchmarks/requirements-compat.txt
	test -x .venv-compat/bin/python || $(PYTHON) -m venv .venv-compat
	.venv-compat/bin/python -m pip install --quiet --disable-pip-version-check -r $< .
	touch $@

bench-compat: models .venv-compat/.ready
	$(BIN)/python benchmarks/compat_bert_score.py

clean:
	rm -rf $(VENV) .venv-peer .venv-compat build dist src/*.egg-info src/refsim/metrics/_automaton.*.so src/refsim/metrics/_automaton.*.pyd
	rm -rf demo-output .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
