package claudecode

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// Command implements adapters.Launcher (2.1.100 to 2.1.332). A background launch reads the
// prompt from standard input; a launch in a terminal gets it as an argument. A launch that can
// be answered exchanges its prompts and its questions over standard input and output (2.1.329).
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{
		Path:    program,
		Drop:    []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"},
		WhyDrop: "with them Claude Code bills an API account instead of using your subscription",
	}
	switch {
	case t.Terminal:
	case t.Answerable:
		c.Args = []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio"}
		c.Stdin, c.Pipe = string(inputLine(t.Prompt))+"\n", true
		if t.Mode == "" {
			t.Mode = "default" // 2.1.330 would decide by itself
		}
	default:
		c.Args, c.Stdin = []string{"-p", "--output-format", "stream-json", "--verbose"}, t.Prompt
	}
	c.Home = cmp.Or(t.Home, a.configDir())
	if t.Home != "" {
		if err := a.useHome(&c, t.Home); err != nil {
			return c, err
		}
	}
	c.Option("--resume", t.Resume)
	c.Session = t.Resume
	if t.Resume == "" {
		c.Session = kit.New()
		c.Option("--session-id", c.Session)
	}
	c.Option("--model", t.Model)
	c.Option("--permission-mode", t.Mode)
	if t.Terminal && t.Prompt != "" {
		c.Args = append(c.Args, "--", t.Prompt)
	}
	return c, nil
}

// useHome lets a command use a home. The standard home must not be named by the variable: Claude
// Code then looks for its login and settings elsewhere.
func (a *Adapter) useHome(c *adapters.Command, home string) error {
	err := agentproc.UseHome(c, home, a.configDir(), "CLAUDE_CONFIG_DIR", "")
	if c.Set != nil && agentproc.RealPath(home) == agentproc.RealPath(filepath.Join(a.Home, ".claude")) {
		c.Set, c.Unset = nil, []string{"CLAUDE_CONFIG_DIR"}
	}
	return err
}

// rootOf returns the home that a transcript or a registry entry is in; "" for another file.
func rootOf(path string) string {
	if _, ok := entryPID(filepath.Base(path)); ok {
		return filepath.Dir(filepath.Dir(path))
	}
	if root := filepath.Dir(filepath.Dir(filepath.Dir(path))); filepath.Ext(path) == ".jsonl" && filepath.IsAbs(path) {
		return root
	}
	return ""
}

// jobName matches the short id of a background session, which `claude --bg` prints.
var jobName = regexp.MustCompile(`^[0-9A-Za-z]{4,40}$`)

// Attach implements adapters.Attacher for sessions of `claude --bg`: `claude attach ID` (2.1.329). It refuses sessions whose settings folder is not the one
// that Rollcall's own environment names, since the command would not find them.
func (a *Adapter) Attach(_ context.Context, program string, s adapters.Session) (adapters.Command, error) {
	if !background(&s) {
		return adapters.Command{}, fmt.Errorf("%w: only sessions of claude --bg can", adapters.ErrNoAttach)
	}
	path, _ := entryOf(&s)
	root := filepath.Dir(filepath.Dir(path))
	if root != filepath.Clean(a.configDir()) {
		return adapters.Command{}, fmt.Errorf("%w: it has its own settings in %s", adapters.ErrNoAttach, root)
	}
	id := s.ID[:min(len(s.ID), 8)]
	if data, _, err := agentfile.ReadSmall(path, entryLimit); err == nil {
		if job := text(agentfile.Get(data, "jobId")); jobName.MatchString(job) {
			id = job
		}
	}
	return adapters.Command{Path: program, Args: []string{"attach", id}, Session: s.ID}, nil
}

// EndBy implements adapters.Ender. An interrupted Claude Code records the interruption
// and exits; Terminate leaves the turn open (2.1.329). A session of `claude --bg` is
// started again by its supervisor when it is signalled.
func (a *Adapter) EndBy(s adapters.Session) ([]proc.Signal, error) {
	if background(&s) {
		return nil, fmt.Errorf("its supervisor would start it again; use: claude stop %.8s", s.ID)
	}
	return []proc.Signal{proc.Interrupt, proc.Terminate}, nil
}

// background reports whether, by the registry, the session was started with --bg.
func background(s *adapters.Session) bool {
	path, _ := entryOf(s)
	data, _, err := agentfile.ReadSmall(path, entryLimit)
	return err == nil && text(agentfile.Get(data, "kind")) == "bg"
}
