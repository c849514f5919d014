# SPDX-License-Identifier: Apache-2.0
SHELL := /usr/bin/env bash -o pipefail
TOOL  := go tool -modfile=go.tools.mod
# Each test binary may start its own control plane: two at a time are what two cores and 8 GiB carry.
TEST  := go test -p 2 -timeout 20m

.DEFAULT_GOAL := help
.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: control-plane ## See it work, then clean up; PROVIDER=gcp for Google, KEEP=1 leaves it up until Ctrl-C
	go run ./testbed/demo $(if $(PROVIDER),-provider=$(PROVIDER)) $(if $(KEEP),-keep) $(ARGS)

.PHONY: control-plane
control-plane: ## Find or build etcd, Kubernetes and kubectl for demo and tests
	@go run ./testbed/cluster/up -prepare $(if $(filter 0,$(shell id -u)),-node)

.PHONY: build
build: ## Build the program into bin/
	CGO_ENABLED=0 go build -trimpath -o bin/runner-identity .

.PHONY: test
test: control-plane verify lint ## Run every test, those against the real API server included
	$(TEST) -race ./...

.PHONY: test-fast
test-fast: ## Run the tests that need no control plane
	go test -short ./...

.PHONY: bench
bench: ## Run the benchmarks
	go test -short -run '^$$' -bench . -benchmem ./...

.PHONY: generate
generate: ## Write deepcopy functions, CRDs and RBAC from the Go sources
	hack/generate.sh

.PHONY: verify
verify: ## Fail if a generated file is stale
	hack/verify.sh

.PHONY: lint
lint: ## Run go vet and the linters
	go vet ./...
	$(TOOL) golangci-lint run --allow-parallel-runners

.PHONY: fmt
fmt: ## Format the code
	$(TOOL) golangci-lint fmt

.PHONY: vuln
vuln: ## Look for known vulnerabilities in what is called (needs vuln.go.dev)
	$(TOOL) govulncheck ./...
