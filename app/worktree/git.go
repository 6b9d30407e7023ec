package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// ErrNoGit says that git isn't installed, or not on the PATH.
var ErrNoGit = errors.New("git was not found on the PATH: install it from your package manager or git-scm.com")

// ErrNoRepository says that a folder is in no git repository.
var ErrNoRepository = errors.New("not in a git repository")

const (
	// readLimit bounds a question to git, changeLimit what writes a whole
	// working tree.
	readLimit   = time.Minute
	changeLimit = 10 * time.Minute
	// maxOutput bounds an answer: a status of some hundred thousand files.
	maxOutput = 64 << 20
	// endGrace is how long git has to tidy up after it was interrupted.
	endGrace = 3 * time.Second
)

// located are the variables that would point git at another repository than
// the one in the folder, as they are set inside its hooks.
var located = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE",
	"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXTERNAL_DIFF", "GIT_LITERAL_PATHSPECS",
}

// Git runs the git executable. It is safe for concurrent use.
type Git struct {
	path string
	env  []string
}

// FindGit looks git up on the PATH. Its error is ErrNoGit.
func FindGit() (*Git, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, ErrNoGit
	}
	return &Git{path: path, env: proc.ChildEnv(os.Environ(), located, map[string]string{
		"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_PAGER": "cat",
	})}, nil
}

// gitError is a git that failed.
type gitError struct {
	command string // "status"
	code    int
	text    string // what it said
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: %s", e.command, e.text)
}

// quiet are the settings with which nothing is changed by a question, not even
// an index: git diff would refresh it whatever the optional locks say.
var quiet = []string{"--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "diff.autoRefreshIndex=false"}

// ask runs git in dir for an answer.
func (g *Git) ask(ctx context.Context, dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readLimit, fmt.Errorf("git %s: no answer in %s", args[0], readLimit))
	defer cancel()
	return g.run(ctx, dir, slices.Concat(quiet, args), args[0])
}

// change runs git in dir to change something. When ctx ends, git is interrupted
// and has time to take back what is half done.
func (g *Git) change(ctx context.Context, dir string, args ...string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, changeLimit, fmt.Errorf("git %s: not done in %s", args[0], changeLimit))
	defer cancel()
	_, err := g.run(ctx, dir, args, args[0])
	return err
}

func (g *Git) run(ctx context.Context, dir string, args []string, command string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, g.path, append([]string{"-C", dir}, args...)...)
	out, errs := &limited{max: maxOutput}, &limited{max: 64 << 10}
	cmd.Env, cmd.Stdout, cmd.Stderr = g.env, out, errs
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
		return nil, context.Cause(ctx)
	case err == nil && out.full:
		return nil, fmt.Errorf("git %s in %s: the answer is larger than %d MB", command, dir, maxOutput>>20)
	case err == nil:
		return out.Bytes(), nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil, fmt.Errorf("git %s: %w", command, err)
	}
	return nil, explain(dir, &gitError{command: command, code: exit.ExitCode(), text: said(errs.String())})
}

// explain turns the failures that a user can mend into words.
func explain(dir string, e *gitError) error {
	switch {
	case strings.Contains(e.text, "dubious ownership"), strings.Contains(e.text, "unsafe repository"):
		return &adapters.Problem{Kind: adapters.ErrUnreadable, Path: dir,
			Err: errors.New("it belongs to another user, so git does not trust it"),
			Fix: "if you do: git config --global --add safe.directory " + quoted(e.text, dir)}
	case strings.Contains(e.text, "not a git repository"):
		return fmt.Errorf("%s: %w", dir, ErrNoRepository)
	case strings.Contains(e.text, "cannot change to"):
		return fmt.Errorf("%s: no such folder, or no permission to enter it", dir)
	}
	return e
}

// quoted is the repository that git names in its message, as it does in quotes;
// dir may be a folder in it.
func quoted(text, dir string) string {
	if _, rest, found := strings.Cut(text, "repository at '"); found {
		if path, _, found := strings.Cut(rest, "'"); found {
			dir = path
		}
	}
	return "'" + dir + "'"
}

// said shortens what git wrote to one line, without its prefix.
func said(text string) string {
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
		return "failed without a word"
	}
	return text[:min(len(text), 500)]
}

// exitCode is that of a git that failed; -1 for another error.
func exitCode(err error) int {
	var e *gitError
	if errors.As(err, &e) {
		return e.code
	}
	return -1
}

// limited is a buffer that forgets what doesn't fit.
type limited struct {
	bytes.Buffer
	max  int
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := l.max - l.Len()
	if len(p) > room {
		l.full = true
		l.Buffer.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

// line is an answer of one line, without its end. A path may hold line breaks.
func line(out []byte) string { return strings.TrimSuffix(string(out), "\n") }
