package agents

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// Release is one pinned version of an agent.
type Release struct {
	Agent   string // as Rollcall names it
	Version string
	lock    string // folder in locks, which pins every package by its hash
	program string // below the prefix of the installation
	setup   string // script of a package to run with node after the installation; may be empty
	newNode bool   // its program runs on Node, as the machine's may be too old for it
	runner  string // below the prefix: what runs its program; may be empty
}

// The releases that the scenarios run: the newest of each agent when the lock files
// were made, and the oldest whose live status Rollcall determines, its floor.
var (
	ClaudeNewest = Release{Agent: "claude-code", Version: "2.1.332", lock: "claude-code-2.1.332",
		program: "bin/claude", setup: "@anthropic-ai/claude-code/install.cjs"}
	ClaudeFloor = Release{Agent: "claude-code", Version: "2.1.152", lock: "claude-code-2.1.152",
		program: "bin/claude", setup: "@anthropic-ai/claude-code/install.cjs"}
	// ClaudeBelow has a registry that says nothing of the status.
	ClaudeBelow = Release{Agent: "claude-code", Version: "2.1.100", lock: "claude-code-2.1.100", program: "bin/claude"}

	CodexNewest = Release{Agent: "codex", Version: "0.171.0", lock: "codex-0.171.0", program: "bin/codex"}
	CodexFloor  = Release{Agent: "codex", Version: "0.137.0", lock: "codex-0.137.0", program: "bin/codex"}
	// CodexBelow has no daemon, no database and no task records.
	CodexBelow = Release{Agent: "codex", Version: "0.80.0", lock: "codex-0.80.0", program: "bin/codex"}

	OpenCodeNewest = Release{Agent: "opencode", Version: "1.18.33", lock: "opencode-1.18.33",
		program: "bin/opencode", setup: "opencode-ai/postinstall.mjs"}
	OpenCodeFloor = Release{Agent: "opencode", Version: "1.17.0", lock: "opencode-1.17.0",
		program: "bin/opencode", setup: "opencode-ai/postinstall.mjs"}

	// KiloNewest is the newest program for Linux in the registry, alone: the package @kilocode/cli of its version is not there.
	KiloNewest = Release{Agent: "kilo", Version: "7.7.9", lock: "kilo-7.7.9", program: "lib/node_modules/@kilocode/cli-linux-x64/bin/kilo"}

	QwenNewest   = Release{Agent: "qwen", Version: "0.24.4", lock: "qwen-0.24.4", program: "bin/qwen", newNode: true}
	GeminiNewest = Release{Agent: "gemini", Version: "0.61.0", lock: "gemini-0.61.0", program: "bin/gemini", newNode: true}
	// CopilotNewest is a script that starts the program in a package for each system.
	CopilotNewest = Release{Agent: "copilot", Version: "1.0.102", lock: "copilot-1.0.102", program: "bin/copilot", newNode: true}
	// ClineNewest is a script that starts the program, which its setup copies to ".cline". The libraries for programs of others that its package adds are
	// left out of the lock file.
	ClineNewest = Release{Agent: "cline", Version: "3.0.65", lock: "cline-3.0.65", program: "bin/cline", setup: "cline/postinstall.mjs"}

	// GrokNewest is the native program that its setup unpacks to ".grok" in the home, as its launcher for Node does.
	GrokNewest = Release{Agent: "grok", Version: "1.0.41", lock: "grok-1.0.41", program: ".grok/bin/grok", setup: "@xai-official/grok/bin/postinstall.js"}

	// KimiNewest is one file; its optional libraries are in its lock file.
	KimiNewest = Release{Agent: "kimi", Version: "2.1.0", lock: "kimi-2.1.0", program: "bin/kimi", newNode: true}

	// PiNewest is one bundle: what its package names as dependencies is in it, and
	// left out of the lock file.
	PiNewest = Release{Agent: "pi", Version: "1.6.0", lock: "pi-1.6.0", program: "bin/pi", newNode: true}
	PiFloor  = Release{Agent: "pi", Version: "0.87.0", lock: "pi-0.87.0", program: "bin/pi", newNode: true}

	// OmpNewest is one bundle that Bun runs; what its package names as dependencies for further features is left out of the lock file.
	OmpNewest = Release{Agent: "omp", Version: "18.2.3", lock: "omp-18.2.3", program: "bin/omp", setup: "bun/install.js", runner: "bin/bun"}

	OpenClawNewest = Release{Agent: "openclaw", Version: "2026.9.6", lock: "openclaw-2026.9.6", program: "bin/openclaw", newNode: true}
	OpenClawFloor  = Release{Agent: "openclaw", Version: "2026.6.1", lock: "openclaw-2026.6.1", program: "bin/openclaw", newNode: true}

	// Nanocoder is a coding agent that Rollcall has no adapter for and no name of: see TestNamedByConfiguration. A library for pictures that its packages add is
	// left out of its lock file.
	Nanocoder = Release{Agent: "nanocoder", Version: "1.30.0", lock: "nanocoder-1.30.0", program: "bin/nanocoder", newNode: true}

	// Node is the Node.js that some of the agents ask for.
	Node = Release{Agent: "node", Version: "24.21.0", lock: "node-24.21.0", program: "bin/node"}
)

// newest are the newest releases of the agents.
var newest = []Release{ClaudeNewest, CodexNewest, OpenCodeNewest, KiloNewest, PiNewest, OpenClawNewest, GeminiNewest, CopilotNewest, ClineNewest, QwenNewest, GrokNewest, KimiNewest, OmpNewest}

// Releases returns all of the agents', the newest ones first.
func Releases() []Release {
	return slices.Concat(newest, []Release{ClaudeFloor, CodexFloor, OpenCodeFloor, PiFloor, OpenClawFloor, ClaudeBelow, CodexBelow})
}

// everything reports whether the older releases and the long tests run too, as they do in make test-agents-all.
func everything() bool { return os.Getenv("ROLLCALL_AGENTS") == "all" }

// chosen returns those of the releases that this run is about: the newest, or all.
func chosen(releases []Release) []Release {
	if everything() {
		return releases
	}
	return slices.DeleteFunc(slices.Clone(releases), func(r Release) bool {
		return !slices.Contains(newest, r)
	})
}

// String returns the agent's name and version.
func (r Release) String() string { return r.Agent + " " + r.Version }

// Program returns the path of the agent's command below the folder given to Install.
func (r Release) Program(dir string) string {
	return filepath.Join(r.prefix(dir), r.program)
}

// prefix returns the folder below dir that the release is installed in, as by npm install -g --prefix.
func (r Release) prefix(dir string) string { return filepath.Join(dir, r.lock+"-global") }

// Argv returns the command line that starts the agent with these arguments.
func (r Release) Argv(dir string, args ...string) []string {
	argv := append([]string{r.Program(dir)}, args...)
	if r.newNode {
		argv = append([]string{Node.Program(dir)}, argv...)
	}
	if r.runner != "" {
		argv = append([]string{filepath.Join(r.prefix(dir), r.runner)}, argv...)
	}
	return argv
}

//go:embed locks
var locks embed.FS

// Screen returns the folder with the signs and pictures of the release's screen: see package screen of the harness.
func (r Release) Screen() fs.FS {
	folder, err := fs.Sub(locks, "locks/"+r.lock+"/screen")
	if err != nil {
		panic(err) // it is no path
	}
	return folder
}

// CacheDir returns the folder that the agents are installed in.
func CacheDir() (string, error) {
	if dir := os.Getenv("ROLLCALL_AGENTS_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("folder for the agents: %w (set ROLLCALL_AGENTS_DIR)", err)
	}
	return filepath.Join(cache, "rollcall", "agents"), nil
}

// Install installs the release below dir unless it is there already. npm checks
// each package against its hash in the lock file. Concurrent calls, also of
// other processes, wait for each other.
func Install(ctx context.Context, dir string, r Release) error {
	if err := install(ctx, dir, r); err != nil {
		return fmt.Errorf("install %s in %s: %w", r, dir, err)
	}
	return nil
}

func install(ctx context.Context, dir string, r Release) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	guard := flock.New(filepath.Join(dir, r.lock+".lock"))
	if _, err := guard.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, guard.Unlock()) }()
	manifest, err1 := locks.ReadFile("locks/" + r.lock + "/package.json")
	lock, err2 := locks.ReadFile("locks/" + r.lock + "/package-lock.json")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	sum := sha256.Sum256(lock)
	want := []byte(hex.EncodeToString(sum[:]) + "\n")
	target := r.prefix(dir)
	lib := filepath.Join(target, "lib")
	stamp := filepath.Join(target, "installed")
	if have, err := os.ReadFile(stamp); err == nil && bytes.Equal(have, want) {
		return nil
	}
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	if err := os.MkdirAll(lib, 0o755); err != nil {
		return err
	}
	err1 = os.WriteFile(filepath.Join(lib, "package.json"), manifest, 0o644)
	err2 = os.WriteFile(filepath.Join(lib, "package-lock.json"), lock, 0o644)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	// Scripts of packages stay off, since npm is about to forbid them by default;
	// the one that an agent needs is run by name.
	if err := run(ctx, lib, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"); err != nil {
		return err
	}
	if err := linkPrograms(target, manifest); err != nil {
		return err
	}
	if r.setup != "" {
		// Cline's changes the files of a hub that runs, and must not find the user's.
		if err := run(ctx, lib, "env", "-i", "HOME="+target, "PATH="+os.Getenv("PATH"), "npm_config_global=true", "node", filepath.Join("node_modules", r.setup)); err != nil {
			return err
		}
	}
	if r.Agent == OpenClawNewest.Agent { // its first start completes the installation; two first starts at once, in pid namespaces of their own, fail
		if err := Install(ctx, dir, Node); err != nil {
			return err
		}
		argv := append([]string{"-i", "HOME=" + target, "PATH=/usr/bin:/bin"}, r.Argv(dir, "--version")...)
		if err := run(ctx, target, "env", argv...); err != nil {
			return err
		}
	}
	return os.WriteFile(stamp, want, 0o644)
}

// linkPrograms links the programs of the packages that a manifest asks for where npm install -g, which takes no lock file, has them: in bin.
func linkPrograms(prefix string, manifest []byte) error {
	modules, bin := filepath.Join(prefix, "lib", "node_modules"), filepath.Join(prefix, "bin")
	if err := errors.Join(os.RemoveAll(filepath.Join(modules, ".bin")), os.Mkdir(bin, 0o755)); err != nil {
		return err
	}
	var wanted struct{ Dependencies, OptionalDependencies map[string]string }
	if err := json.Unmarshal(manifest, &wanted); err != nil {
		return err
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(wanted.Dependencies)), slices.Collect(maps.Keys(wanted.OptionalDependencies))) {
		data, err := os.ReadFile(filepath.Join(modules, name, "package.json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // for another architecture
		}
		var p struct{ Bin any }
		if err := errors.Join(err, json.Unmarshal(data, &p)); err != nil {
			return err
		}
		programs, _ := p.Bin.(map[string]any)
		if program, one := p.Bin.(string); one {
			programs = map[string]any{filepath.Base(name): program}
		}
		for command, program := range programs {
			if err := os.Symlink(filepath.Join("..", "lib", "node_modules", name, fmt.Sprint(program)), filepath.Join(bin, command)); err != nil {
				return err
			}
		}
	}
	return nil
}

// run runs a command and puts what it printed into the error.
func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, output)
	}
	return nil
}
