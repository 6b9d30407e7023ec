package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"rollcall/app/owned/script"
	"rollcall/app/store/fault"
	"rollcall/proc"
)

// hookLimit is the longest time that a hook may run.
const hookLimit = 300 * time.Second

// startHooks runs those hooks for one event (OnCreate or OnComplete) that have not run, one after the other, in the
// background. It records the start of a hook before it starts it, so that no hook runs twice, unless the user allows that
// with Again.
func (k *Keeper) startHooks(ctx context.Context, r *Record, when When) error {
	var mine []int
	for i, h := range r.Hooks {
		if h.When == when && k.launches.Pending(&h) {
			mine = append(mine, i)
		}
	}
	if mine == nil {
		return nil
	}
	session := sessionOf(r, k.core.Snapshot().Sessions())
	env := hookEnv(r, session.Branch, session.Model)
	if _, err := os.Lstat(k.launches.promptFile(r.ID)); err == nil {
		env[promptVariable] = k.launches.promptFile(r.ID)
	}
	var claimed []int
	_, err := k.launches.update(ctx, r.ID, func(now *Record) bool {
		for _, i := range mine {
			if i < len(now.Hooks) && k.launches.Pending(&now.Hooks[i]) {
				h := &now.Hooks[i]
				h.RanAt, h.Runner = k.launches.now(), proc.Self()
				claimed = append(claimed, i)
			}
		}
		return len(claimed) > 0
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the record was removed
	}
	if err != nil {
		return err
	}
	fault.Point("launch.hook.claimed")
	id := r.ID
	list := r.Hooks
	own := filepath.Dir(k.launches.Folder())
	k.hooks.Go(func() {
		for _, i := range claimed {
			result, output := script.Run(context.Background(), list[i].Command, own,
				proc.ChildEnv(os.Environ(), hookVariables, env), hookLimit)
			if result != script.Succeeded {
				k.log.Warn("a hook failed", "launch", id, "hook", list[i].Command, "result", result)
			}
			// Without the stored result, a later process could not know whether the hook ended.
			k.Troubles.Retry(ctx, part, "the result of a hook could not be stored", func() error {
				return k.launches.writeResult(id, i, result, output)
			})
		}
	})
	return nil
}

// writeResult stores the result of the i-th hook of a launch. It does nothing if the record was removed.
func (l *Launches) writeResult(id string, i int, result, output string) error {
	_, err := l.update(context.Background(), id, func(now *Record) bool {
		if i >= len(now.Hooks) {
			return false
		}
		h := &now.Hooks[i]
		h.FinishedAt = l.now()
		h.Result = result
		h.Output = output
		return true
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Pending reports whether a hook must be started: it was never started, or its result is unknown and the user set Again.
func (l *Launches) Pending(h *Hook) bool {
	return h.RanAt.IsZero() || h.Again && l.resultUnknown(h)
}

// resultUnknown reports whether the process that ran a hook died before it stored the result.
func (l *Launches) resultUnknown(h *Hook) bool {
	return !h.RanAt.IsZero() && h.FinishedAt.IsZero() && h.Result == "" && !l.table.Alive(h.Runner)
}

// ErrNoRetry is returned for a launch none of whose hooks has an unknown result.
var ErrNoRetry = errors.New("none of its hooks was interrupted, so there is nothing to retry")

// RetryHooks marks those hooks of a launch as pending again whose result is unknown because the process that ran them died.
// The Keeper then runs them.
func (l *Launches) RetryHooks(ctx context.Context, id string) error {
	found := false
	if l.host != nil {
		if err := l.host.Ready(ctx); err != nil {
			return fmt.Errorf("nothing would run the hooks: %w", err)
		}
	}
	_, err := l.update(ctx, id, func(r *Record) bool {
		for i := range r.Hooks {
			if h := &r.Hooks[i]; l.resultUnknown(h) {
				h.RanAt = time.Time{}
				h.Runner = proc.Identity{}
				found = true
			}
		}
		return found
	})
	if err == nil && !found {
		return fmt.Errorf("launch %s: %w", id, ErrNoRetry)
	}
	return err
}

// hookEnv returns the environment variables of a hook. It leaves out variables without a value.
func hookEnv(r *Record, branch, model string) map[string]string {
	env := map[string]string{
		"ROLLCALL_SESSION_ID": r.Session, "ROLLCALL_CWD": r.Dir, "ROLLCALL_AGENT": string(r.Agent),
		"ROLLCALL_BRANCH": cmp.Or(branch, r.Branch), "ROLLCALL_GROUP": r.Group, "ROLLCALL_MODEL": cmp.Or(model, r.Model),
	}
	if r.ExitCode != nil {
		env["ROLLCALL_EXIT_CODE"], env["ROLLCALL_SIGNAL"] = strconv.Itoa(*r.ExitCode), r.Signal
	}
	maps.DeleteFunc(env, func(_, value string) bool { return value == "" })
	return env
}

// Variables returns the names of the variables that identify a launch to its agent and its hooks.
func Variables() []string { return hookVariables }

// hookVariables are removed from the environment of a hook, in which an outer launch may have set them.
var hookVariables = []string{"ROLLCALL_SESSION_ID", "ROLLCALL_CWD", "ROLLCALL_AGENT", "ROLLCALL_BRANCH",
	"ROLLCALL_EXIT_CODE", "ROLLCALL_SIGNAL", "ROLLCALL_GROUP", "ROLLCALL_MODEL", promptVariable, Variable}

// promptVariable is the variable of hooks with the path of the file that has the whole prompt.
const promptVariable = "ROLLCALL_PROMPT_FILE"
