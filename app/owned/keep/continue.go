package keep

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"rollcall/adapters"
	control "rollcall/app/control/answer"
	"rollcall/app/owned/fuse"
	"rollcall/app/self/executable"
	"rollcall/app/settings"
	"rollcall/proc"
)

// resumeLimit is how long `rollcall resume` may take to start an agent.
const resumeLimit = 2 * time.Minute

// continueSession implements fuse.Keeper.Continue. A session that is open gets the prompt through its agent; one that has stopped is resumed in the background as
// `rollcall resume` does it, with all its checks.
func (k *keeper) continueSession(ctx context.Context, c fuse.Continue) (done string, err error) {
	s, err := k.core.Current(ctx, c.Agent, c.Session)
	if err != nil {
		return "", err
	}
	if err := fuse.StillAtLimit(&s, c.Active); err != nil {
		return "", err
	}
	if s.Status != adapters.Stopped {
		answers := control.New(k.core, func() settings.Answering { set, _ := k.settings(); return set.Answering.Requests })
		return "the session has the prompt", answers.Send(ctx, c.Agent, c.Session, c.Prompt, false)
	}
	program, err := executable.Path()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, resumeLimit)
	defer cancel()
	cmd := proc.WithoutWindow(exec.CommandContext(ctx, program, "resume", "--unused-since", c.Active.Format(time.RFC3339Nano), "-p", "-", "--", c.Session))
	cmd.Stdin = strings.NewReader(c.Prompt)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return "", errors.New(cmp.Or(strings.TrimPrefix(lines[len(lines)-1], "rollcall: "), err.Error()))
	}
	return "the session was resumed with the prompt", nil
}
