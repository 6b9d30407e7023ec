package focus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"rollcall/bounded"
	"rollcall/proc"
)

const (
	// answerLimit is how long a program or socket may take to answer.
	answerLimit = 2 * time.Second
	// maxAnswer is far above the length of any answer, in bytes.
	maxAnswer = 4 << 20
)

// run runs a program without a shell, with a time limit, and returns what it printed. The program does not get the variables
// of the terminal in which Rollcall itself runs; set replaces them. The error contains the first line of the program's error
// output.
func run(ctx context.Context, set map[string]string, name string, args ...string) ([]byte, error) {
	return runFor(ctx, answerLimit, set, name, args...)
}

// runFor does what run does, with another limit.
func runFor(ctx context.Context, limit time.Duration, set map[string]string, name string, args ...string) ([]byte, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("%s is not installed", name)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := proc.WithoutWindow(exec.CommandContext(ctx, path, args...))
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name != "SSH_CONNECTION" && slices.Contains(placeVars, name) || name == "TMUX_PANE" || name == "ELECTRON_RUN_AS_NODE"
	})
	for name, value := range set {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, failed := bounded.Buffer{Max: maxAnswer}, bounded.Buffer{Max: maxAnswer}
	cmd.Stdout, cmd.Stderr = &out, &failed
	cmd.WaitDelay = answerLimit / 4
	err = cmd.Run()
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s did not answer", name)
	}
	first, _, _ := strings.Cut(cmp.Or(strings.TrimSpace(failed.String()), strings.TrimSpace(out.String()), err.Error()), "\n")
	return nil, fmt.Errorf("%s: %s", name, strings.ToValidUTF8(first[:min(len(first), 200)], "?"))
}
