// Package worktree creates, lists and removes git worktrees in which several agents try the same task side by side. Each
// try has a folder and a branch, named after the launch's group. The package runs the git executable and stores nothing.
//
// The names are those of OrgLoop/agentctl, so that its worktrees are found as well.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app/store"
	"rollcall/bounded"
	"rollcall/proc"
)

// ErrNoGit is returned if git is not on the PATH.
var ErrNoGit = errors.New("git was not found on the PATH: install it from your package manager or git-scm.com")

// ErrNoRepository is returned for a folder outside any git repository.
var ErrNoRepository = errors.New("not in a git repository")

// ErrNoTree is returned for a bare repository, and for a folder inside .git.
var ErrNoTree = errors.New("a git repository without a working tree, so there are no files to compare")

// errLarge is the reason of a git command that prints more than maxOutput.
var errLarge = fmt.Errorf("the output is larger than %d MB", maxOutput>>20)

const (
	// askLimit is the time limit of a git command that reads a few files of the repository, readLimit that of one that may read a whole working tree or
	// history, changeLimit that of one that may write a working tree.
	askLimit    = 5 * time.Second
	readLimit   = time.Minute
	changeLimit = 10 * time.Minute
	// maxOutput is the largest output that is read, enough for the status of some hundred thousand files.
	maxOutput = 64 << 20
	// endGrace is the time that git has to clean up after an interrupt.
	endGrace = 3 * time.Second
)

// located lists the environment variables that make git use another repository than the one of its folder. git sets them
// for its hooks.
var located = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE",
	"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXTERNAL_DIFF", "GIT_LITERAL_PATHSPECS",
	"GIT_ATTR_SOURCE", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS",
}

// large lists the commands that may read a whole working tree or history.
var large = []string{"status", "diff", "ls-files", "rev-list", "merge-base", "log"}

// Git runs the git executable. It is safe for concurrent use.
type Git struct {
	path     string
	env      []string
	patience time.Duration // how long git may run before it is asked what it waits for
}

// FindGit finds git on the PATH. Its error is ErrNoGit.
func FindGit() (*Git, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, ErrNoGit
	}
	return &Git{path: path, patience: patience, env: proc.ChildEnv(os.Environ(), located, map[string]string{
		"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_PAGER": "cat",
	})}, nil
}

// gitError is the failure of a git command.
type gitError struct {
	command string // "status"
	code    int
	text    string // error output on one line
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: %s", e.command, e.text)
}

// endedError is the reason why a git command was ended before it answered.
type endedError struct{ error }

func (e endedError) Unwrap() error { return e.error }

// refused reports whether git answered that it can't do what was asked, so that err is no reason to know nothing.
func refused(err error) bool {
	_, ended := errors.AsType[endedError](err)
	return !ended
}

// with returns a Git whose commands have these variables, too.
func (g *Git) with(set map[string]string) *Git {
	return &Git{path: g.path, patience: g.patience, env: proc.ChildEnv(g.env, nil, set)}
}

// harmless lists the options with which a git command runs no program that the repository names: no monitor of the file
// system, no hook, no pager, no signature check, no clean-up in the background. The filters are those of a snapshot.
// Files of more than 8 MB are compared as binary ones, without reading them whole. Without diff.autoRefreshIndex git diff would refresh the index even with --no-optional-locks.
var harmless = []string{"--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "diff.autoRefreshIndex=false",
	"-c", "log.showSignature=false", "-c", "submodule.recurse=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "protocol.allow=never", "-c", "core.bigFileThreshold=8m"}

// unconnected holds the variables with which git connects to no other repository, not even for objects that a partial
// clone lacks: it would run ssh, a credential helper or a proxy as the repository names them.
var unconnected = map[string]string{"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}

// ask runs a git command that changes nothing in dir and returns its output. It runs no program that the repository
// names, unless the command compares the files of a working tree: see snapshot.
func (g *Git) ask(ctx context.Context, dir string, args ...string) ([]byte, error) {
	limit := askLimit
	if slices.Contains(large, args[0]) {
		limit = readLimit
	}
	return g.with(unconnected).run(ctx, limit, dir, harmless, args)
}

// change runs a git command that makes changes in dir, without hooks. When ctx is done it interrupts git, which then has
// time to undo its changes.
func (g *Git) change(ctx context.Context, dir string, args ...string) error {
	_, err := g.with(unconnected).run(ctx, changeLimit, dir, harmless, args)
	return err
}

// checkOut runs a git command that creates a working tree in dir, like change, but with everything that the repository
// names: its hooks, its filters, and for a partial clone its connections. It runs only when the user has asked for a
// worktree.
func (g *Git) checkOut(ctx context.Context, dir string, args ...string) error {
	_, err := g.run(ctx, changeLimit, dir, nil, args)
	return err
}

// run runs a git command, which is the first of args, with options of git itself. A command that waits for what is no file is ended: see blocking.
func (g *Git) run(ctx context.Context, limit time.Duration, dir string, options, args []string) ([]byte, error) {
	command := args[0]
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("git %s in %s: not done in %s: %w", command, dir, limit, errSlow))
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	look := time.AfterFunc(g.patience, func() {
		if err := blocking(ctx, dir); err != nil {
			end(fmt.Errorf("git %s: %w", command, err))
		}
	})
	defer look.Stop()
	cmd := proc.WithoutWindow(exec.CommandContext(ctx, g.path, slices.Concat([]string{"-C", dir}, options, args)...))
	out, errs := &bounded.Buffer{Max: maxOutput}, &bounded.Buffer{Max: 64 << 10}
	cmd.Env = g.env
	cmd.Stdout = out
	cmd.Stderr = errs
	cmd.Cancel = func() error {
		if cmd.Process.Signal(os.Interrupt) == nil {
			return nil
		}
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = endGrace
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, endedError{context.Cause(ctx)}
	case err == nil && out.IsFull():
		return nil, fmt.Errorf("git %s in %s: %w", command, dir, errLarge)
	case err == nil:
		return out.Bytes(), nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil, fmt.Errorf("git %s: %w", command, err)
	}
	return nil, explain(dir, &gitError{command: command, code: exit.ExitCode(), text: errorLine(errs.String())})
}

// explain returns an error with advice for the failures that a user can correct.
func explain(dir string, e *gitError) error {
	switch {
	case strings.Contains(e.text, "dubious ownership"), strings.Contains(e.text, "unsafe repository"):
		return &adapters.Problem{Kind: adapters.ErrUnreadable, Path: dir,
			Err: errors.New("the repository belongs to another user, so git does not trust it"),
			Fix: "if you trust it, run: git config --global --add safe.directory " + quoted(e.text, dir)}
	case strings.Contains(e.text, "not a git repository"):
		return fmt.Errorf("%s: %w", dir, ErrNoRepository)
	case strings.Contains(e.text, "must be run in a work tree"):
		return fmt.Errorf("%s: %w", dir, ErrNoTree)
	case strings.Contains(e.text, ": unsupported file type"):
		name, _, _ := strings.Cut(e.text, ": unsupported file type")
		return fmt.Errorf("%s: no regular file, which git can't compare: a named pipe, a socket or a device is in its place", filepath.Join(dir, name))
	case strings.Contains(e.text, "cannot change to"):
		return fmt.Errorf("%s: no such folder, or no permission to enter it", dir)
	}
	return e
}

// quoted returns the repository that git's message names, quoted for a shell. dir, which may be a folder inside it, is
// the fallback.
func quoted(text, dir string) string {
	if _, rest, found := strings.Cut(text, "repository at '"); found {
		if path, _, found := strings.Cut(rest, "'"); found {
			dir = path
		}
	}
	return store.Quote(dir)
}

// errorLine returns git's error output as one line of at most 500 bytes, without hints and prefixes.
func errorLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "hint:") || strings.HasPrefix(line, "Preparing worktree") {
			continue
		}
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: "))
	}
	text = strings.Join(lines, "; ")
	if text == "" {
		return "failed without an error message"
	}
	return text[:min(len(text), 500)]
}

// exitCode returns the exit code of a git command that failed, or -1 for any other error.
func exitCode(err error) int {
	if e, ok := errors.AsType[*gitError](err); ok {
		return e.code
	}
	return -1
}

// line returns output without the line break at its end. It does not trim more, since a path may contain line breaks.
func line(out []byte) string { return strings.TrimSuffix(string(out), "\n") }
