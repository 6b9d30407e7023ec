package codex

import (
	"context"
	"fmt"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
)

// Modes implements adapters.Launcher: the sandboxes of --sandbox (0.137.0 to
// 0.169.0).
func (a *Adapter) Modes() []adapters.Mode {
	return []adapters.Mode{
		{Name: "read-only", Says: "reads, and changes nothing"},
		{Name: "workspace-write", Says: "writes in its folder without asking"},
		{Name: "danger-full-access", Says: "does everything without asking", Unsafe: true},
	}
}

// Command implements adapters.Launcher (0.137.0 to 0.171.0). A background launch reads the
// prompt from standard input; a launch in a terminal gets it as an argument. The id of a new
// session can't be chosen.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Session: t.Resume}
	if !t.Terminal {
		c.Args, c.Stdin = []string{"exec"}, t.Prompt
	}
	if t.Resume != "" {
		c.Args = append(c.Args, "resume")
	}
	if err := agentproc.UseHome(&c, t.Home, a.ownHome(), "CODEX_HOME", ""); err != nil {
		return c, err
	}
	if !t.Terminal {
		c.Args = append(c.Args, "--json")
	}
	c.Option("--model", t.Model)
	if t.Mode != "" { // `exec resume` has no --sandbox
		c.Args = append(c.Args, "-c", "sandbox_mode="+t.Mode)
	}
	if t.Resume != "" {
		c.Args = append(c.Args, t.Resume)
	}
	switch {
	case !t.Terminal:
		c.Args = append(c.Args, "-")
	case t.Prompt != "":
		c.Args = append(c.Args, "--", t.Prompt)
	}
	return c, nil
}

// attachLimit is how long the daemon may take to say that it has a thread.
const attachLimit = 2 * time.Second

// Attach implements adapters.Attacher for threads that the shared daemon has loaded: `codex resume ID` joins them (0.169.0). Other
// threads can't be attached to: a process refuses a thread that another process has open.
func (a *Adapter) Attach(ctx context.Context, program string, s adapters.Session) (adapters.Command, error) {
	if len(s.Files) == 0 || !s.Shared {
		return adapters.Command{}, fmt.Errorf("%w: only threads of Codex's daemon can", adapters.ErrNoAttach)
	}
	socket := socketOf(s.Files[0])
	if socket != socketIn(a.ownHome()) {
		return adapters.Command{}, fmt.Errorf("%w: it is in another home of Codex", adapters.ErrNoAttach)
	}
	ctx, cancel := context.WithTimeout(ctx, attachLimit)
	defer cancel()
	c, err := connect(ctx, socket, nil)
	if err != nil {
		return adapters.Command{}, fmt.Errorf("%w: Codex's daemon can't be asked: %w", adapters.ErrNoAttach, err)
	}
	defer c.close()
	threads, err := c.list(ctx, []string{s.ID})
	if err != nil {
		return adapters.Command{}, fmt.Errorf("%w: Codex's daemon can't be asked: %w", adapters.ErrNoAttach, err)
	}
	if t, ok := threads[s.ID]; !ok || t.Type == "notLoaded" {
		return adapters.Command{}, fmt.Errorf("%w: Codex's daemon has not loaded it", adapters.ErrNoAttach)
	}
	return adapters.Command{Path: program, Args: []string{"resume", s.ID}, Session: s.ID}, nil
}

// Failure implements adapters.FailureReader for the output of `codex exec --json` (0.169.0): the turn that failed, which comes last, or the last error.
func (a *Adapter) Failure(output []byte) string {
	return kit.LastFailure(output, func(line []byte) string {
		switch string(agentfile.Text(agentfile.Get(line, "type"))) {
		case "turn.failed":
			return agentfile.String(agentfile.Get(line, "error", "message"))
		case "error":
			return agentfile.String(agentfile.Get(line, "message"))
		}
		return ""
	})
}
