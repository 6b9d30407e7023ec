package launch

import (
	"cmp"
	"context"
	"os"
	"strconv"
	"time"

	"rollcall/app/script"
	"rollcall/proc"
)

// hookLimit is how long a hook may take.
const hookLimit = 300 * time.Second

// hooks runs the hooks of one moment that have not run, one after the other, in
// the background. Each is marked before it runs: none ever runs twice.
func (k *Keeper) hooks(ctx context.Context, r *Record, when When) {
	var mine []int
	for i, h := range r.Hooks {
		if h.When == when && h.RanAt.IsZero() {
			mine = append(mine, i)
		}
	}
	if mine == nil {
		return
	}
	env := hookEnv(r, k.sessionOf(r).Branch, k.sessionOf(r).Model)
	var claimed []int
	_, err := k.launches.update(ctx, r.ID, func(now *Record) bool {
		for _, i := range mine {
			if i < len(now.Hooks) && now.Hooks[i].RanAt.IsZero() {
				now.Hooks[i].RanAt = k.launches.now()
				claimed = append(claimed, i)
			}
		}
		return len(claimed) > 0
	})
	if err != nil {
		k.log.Warn("hooks were not run", "launch", r.ID, "error", err)
		return
	}
	id, dir, list := r.ID, r.Dir, r.Hooks
	k.hooking.Go(func() {
		for _, i := range claimed {
			result, output := script.Run(context.Background(), list[i].Command, dir,
				proc.ChildEnv(os.Environ(), hookVariables, env), hookLimit)
			if result != script.Succeeded {
				k.log.Warn("a hook failed", "launch", id, "hook", list[i].Command, "result", result)
			}
			_, err := k.launches.update(context.Background(), id, func(now *Record) bool {
				if i >= len(now.Hooks) {
					return false
				}
				now.Hooks[i].Result, now.Hooks[i].Output = result, output
				return true
			})
			if err != nil {
				k.log.Warn("the result of a hook was not kept", "launch", id, "error", err)
			}
		}
	})
}

// hookEnv is what a hook is told. What isn't known is left out.
func hookEnv(r *Record, branch, model string) map[string]string {
	env := map[string]string{
		"ROLLCALL_SESSION_ID": r.Session, "ROLLCALL_CWD": r.Dir, "ROLLCALL_AGENT": string(r.Agent),
		"ROLLCALL_BRANCH": cmp.Or(branch, r.Branch), "ROLLCALL_GROUP": r.Group, "ROLLCALL_MODEL": cmp.Or(model, r.Model),
	}
	if r.ExitCode != nil {
		env["ROLLCALL_EXIT_CODE"] = strconv.Itoa(*r.ExitCode)
	}
	for name, value := range env {
		if value == "" {
			delete(env, name)
		}
	}
	return env
}

var hookVariables = []string{"ROLLCALL_SESSION_ID", "ROLLCALL_CWD", "ROLLCALL_AGENT", "ROLLCALL_BRANCH",
	"ROLLCALL_EXIT_CODE", "ROLLCALL_GROUP", "ROLLCALL_MODEL", Variable}
