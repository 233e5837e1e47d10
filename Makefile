# The front door of the checkout. Each target installs what it misses, and costs nothing when repeated.
SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.NOTPARALLEL: # two of them would build in the same folders
.PHONY: help run bench build test stress lint format clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

run: ## build weft, and compare it with the stock OpenMP runtimes on nested programs
	@scripts/bootstrap build bench
	@scripts/build release
	@./weft bench main

bench: ## the nested programs, every case; more, one by one: ./weft bench
	@scripts/bootstrap build bench
	@scripts/build release
	@./weft bench all

build: ## build weft: the runtime is then build/dropin/libgomp.so.1
	@scripts/bootstrap build
	@scripts/build release

test: ## build with and without sanitizers, and run every test but the long ones
	@.ci/run

stress: ## run the long tests, and repeat the unit and stress tests (REPEAT=100 times)
	@scripts/bootstrap build test
	@scripts/build --tests release asan tsan ubsan
	@.venv/bin/python scripts/run-tests --stress --repeat $(or $(REPEAT),100) release asan tsan ubsan

lint: ## layout, static checks, headers that stand alone, layers
	@scripts/bootstrap build test lint
	@scripts/build --tests release
	@cmake --build build --target checkheaders
	@scripts/lint

format: ## format C, C++ and Python
	@scripts/bootstrap build lint
	@scripts/format

clean: ## remove what was built; .venv stays
	rm -rf build build-debug build-asan build-tsan build-ubsan build-logs
