# Rollcall. `make help` lists what there is; `make run` and `make test` need nothing but Go, git and make.

SHELL := /bin/bash
.DEFAULT_GOAL := help

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# X11 (also under XWayland) with OpenGL ES: a third of the default's compile time, the same program.
DESKTOP  := x11,gles
LDFLAGS  := -s -w -X main.version=$(VERSION)
BUILD    := build
FUZZTIME ?= 60s
SOAK     ?= 10m
GOLANGCI := $(BUILD)/tools/golangci-lint
# What needs no cgo, and so can be checked for every system on one.
PORTABLE := . ./adapters/... ./proc/... ./app ./app/cleanup/... ./app/cli/... ./app/fuse/... ./app/launch/... ./app/lock/... \
	./app/present/... ./app/script/... ./app/settings/... ./app/store/... ./app/webhook/... ./app/worktree/...

.PHONY: help setup build headless windows run test test-go test-crash test-agents soak vet lint fmt fuzz bench icons screenshots install clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  \033[1m%-13s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install the system packages that the rest needs (Debian)
	@packaging/setup

build: ## build the desktop application: build/rollcall
	go build -tags $(DESKTOP) -ldflags '$(LDFLAGS)' -o $(BUILD)/rollcall .

headless: ## build the static command-line binary: build/rollcall-headless
	CGO_ENABLED=0 go build -tags headless -ldflags '$(LDFLAGS)' -o $(BUILD)/rollcall-headless .

windows: ## cross-build the desktop application for Windows: build/rollcall.exe
	CC=x86_64-w64-mingw32-gcc GOOS=windows GOARCH=amd64 CGO_ENABLED=1 \
		go build -ldflags '$(LDFLAGS) -H windowsgui' -o $(BUILD)/rollcall.exe .

run: setup build ## set up, build and start Rollcall; without a display, under a virtual one
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then exec $(BUILD)/rollcall; \
	else go run ./internal/desktoptest/show -binary $(BUILD)/rollcall -out $(BUILD)/shots; fi

test: setup vet lint build headless windows test-go test-crash ## set up and run every check and test, on a real desktop under Xvfb too
	@packaging/check
	@echo "make test: all passed; screenshots in $(BUILD)/shots"

test-go: ## all Go tests, with the race detector: real desktops where their programs are installed
	go test -race -count=1 -tags $(DESKTOP),desktop -timeout 15m ./...

test-crash: ## kill launches at every step of theirs and look at what is left
	go test -race -count=1 -tags faults -timeout 5m -run Crash ./app/launch

soak: ## let sessions of all agents come and go for 10 minutes, and compare every sample with the truth
	ROLLCALL_SOAK=$(SOAK) go test -race -count=1 -timeout 20m -run TestSoak -v ./internal/soak

test-agents: setup ## install the real agents (npm, about 3 GB, into a cache folder) and run the scenarios against them
	go test -tags agents -count=1 -timeout 60m -v ./internal/agents/...

vet: ## gofmt and go vet, for Linux, macOS and Windows
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "not gofmt-ed:"; echo "$$bad"; exit 1; }
	go vet -tags $(DESKTOP) ./...
	CGO_ENABLED=0 go vet -tags headless $(PORTABLE)
	GOOS=darwin  CGO_ENABLED=0 go vet -tags headless $(PORTABLE) ./notify/... ./app/instance/...
	GOOS=windows CGO_ENABLED=0 go vet -tags headless $(PORTABLE) ./notify/... ./app/instance/...

$(GOLANGCI): tools/go.mod tools/go.sum
	cd tools && go build -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

lint: $(GOLANGCI) ## run the linters (pinned in tools/go.mod)
	$(GOLANGCI) run --build-tags $(DESKTOP),desktop,agents,faults ./...
	shellcheck packaging/setup packaging/check .ci/run

fmt: $(GOLANGCI) ## format the source
	$(GOLANGCI) fmt ./...

fuzz: ## run each fuzz target for FUZZTIME (60s)
	@set -e; for pkg in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for f in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$pkg/*_test.go | cut -c6-); do \
			echo "== $$pkg $$f"; go test $$pkg -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x; done; done

bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

icons: ## draw the icons again from their SVG sources
	go generate ./assets

screenshots: ## keep the tests' screenshots that the README shows (after make test)
	convert $(BUILD)/shots/tray-xfce4-panel-light-menu.png -crop 620x290+0+0 +repage docs/menu.png
	cp $(BUILD)/shots/ui-conversation-light.png docs/window.png

install: build ## install for this user: ~/.local/bin and the application menu
	install -Dm755 $(BUILD)/rollcall $(HOME)/.local/bin/rollcall
	install -Dm644 packaging/io.github.rollcall.Rollcall.desktop $(HOME)/.local/share/applications/io.github.rollcall.Rollcall.desktop
	install -Dm644 assets/svg/rollcall.svg $(HOME)/.local/share/icons/hicolor/scalable/apps/io.github.rollcall.Rollcall.svg

clean: ## remove what was built
	rm -rf $(BUILD)
