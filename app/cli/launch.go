package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/launch"
	"rollcall/app/present"
)

// launchOptions are the flags of launch and resume.
type launchOptions struct {
	prompt, promptFile   string
	dir, model, mode     string
	spec, group          string
	files                []string
	matrix               string
	onCreate, onComplete string
	force, terminal      bool
	keepEnv, dryRun, yes bool
}

func (o *launchOptions) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.prompt, "prompt", "p", "", "what it is to do; - reads standard input")
	f.StringVar(&o.promptFile, "prompt-file", "", "a `file` with what it is to do")
	f.StringVar(&o.model, "model", "", "the model, in the agent's own words")
	f.StringVar(&o.mode, "mode", "", "the permission mode, in the agent's own words")
	f.StringVar(&o.spec, "spec", "", "a `file` that is appended to the prompt as its specification")
	f.StringArrayVar(&o.files, "file", nil, "a `file` that is appended to the prompt (repeat it for more)")
	f.StringVar(&o.group, "group", "", "a name that several launches share")
	f.StringVar(&o.onCreate, "on-create", "", "a `command` that the tray runs once the session is known")
	f.StringVar(&o.onComplete, "on-complete", "", "a `command` that the tray runs once its process has ended")
	f.BoolVar(&o.force, "force", false, "also into a folder that is locked or in use")
	f.BoolVar(&o.terminal, "terminal", false, "interactively, in this terminal, instead of in the background")
	f.BoolVar(&o.keepEnv, "keep-env", false, "leave variables in place that would be left out")
	f.BoolVarP(&o.dryRun, "dry-run", "n", false, "show the command, start nothing")
	f.BoolVarP(&o.yes, "yes", "y", false, "don't ask before a mode that skips all questions")
}

func (c *command) launchCommand() *cobra.Command {
	var o launchOptions
	cmd := &cobra.Command{
		Use:   "launch AGENT[=MODEL]…",
		Short: "Start an agent in a folder, in the background or in this terminal",
		Long: `Start an agent in a folder. Its prompt travels by standard input where the agent
allows that, and never through a shell; in the background its output goes to a
log. The folder is locked until the agent's own process ends. A folder that is
locked, or in which a session lives, also above it or below it, is refused with
exit code 10 unless --force is given.

Several agents, or the same with several models, form a group: each works on the
same prompt in a git worktree of its own, beside the repository. A matrix file
in YAML says it all at once:

  prompt: Fix the flaky test
  matrix:
    - agent: claude-code
      models: [opus, sonnet]
    - agent: codex

Agents: claude-code, codex, opencode, pi, pi-rust.`,
		Example: `  rollcall launch codex -p "fix the build" --cwd ~/src/app
  rollcall launch claude-code=opus claude-code=sonnet codex --prompt-file todo.md`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && o.matrix == "" {
				return wrong("launch takes an agent, or several\n  see: %s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || o.matrix != "" {
				return c.launchGroup(args, o)
			}
			if agent, model, ok := strings.Cut(args[0], "="); ok {
				args[0], o.model = agent, model
			}
			list, _ := c.deps.Open()
			for _, a := range list {
				if string(a.Name()) == args[0] {
					return c.launch(a, adapters.Task{Dir: o.dir}, o)
				}
			}
			return wrong("no agent %q; rollcall doctor lists those it knows", args[0])
		},
	}
	cmd.Flags().StringVar(&o.dir, "cwd", ".", "the `folder` to work in; for a group one in the repository")
	cmd.Flags().StringVar(&o.matrix, "matrix", "", "a YAML `file` that says what to launch")
	o.add(cmd)
	return cmd
}

func (c *command) resumeCommand() *cobra.Command {
	var o launchOptions
	cmd := &cobra.Command{
		Use:   "resume ID",
		Short: "Take up a session again, with a message or in this terminal",
		Long: `Take up the session with this id, or with the only id that begins so: with a
message (-p) in the background, or with --terminal right here. The rules of
launch apply to its folder.`,
		Args: oneID,
		RunE: func(_ *cobra.Command, args []string) error {
			s, _, _, err := c.find(args[0], false)
			if err != nil {
				return err
			}
			switch {
			case s.Remote != "":
				return fmt.Errorf("%s runs on %s: send it a message there", s.ID, present.Line(s.Remote))
			case s.Live() && !o.force:
				return fmt.Errorf("%s is not over: %s (%s); with --force it is taken up all the same", s.ID, present.Status(s.Session), present.Evidence(s.Session))
			case s.CWD == "":
				return fmt.Errorf("%s: its folder is not known", s.ID)
			}
			list, _ := c.deps.Open()
			for _, a := range list {
				if a.Name() == s.Agent {
					return c.launch(a, adapters.Task{Dir: s.CWD, Resume: s.ID}, o)
				}
			}
			return fmt.Errorf("%s: no adapter for %s", s.ID, s.Agent)
		},
	}
	o.add(cmd)
	return cmd
}

// launch carries out launch and resume.
func (c *command) launch(a adapters.Adapter, task adapters.Task, o launchOptions) error {
	task, err := c.taskOf(task, o)
	if err != nil {
		return err
	}
	req := c.requestOf(task, o)
	plan, err := launch.Prepare(a, req, os.Environ())
	if err != nil {
		return err
	}
	c.printLaunch(plan)
	if err := c.warnUnsafe(a, o); err != nil || o.dryRun {
		return err
	}
	l, err := c.launches()
	if err != nil {
		return err
	}
	list, table := c.deps.Open()
	core := app.New(app.Config{Adapters: list, Table: table, Limit: c.deps.Limit, Log: c.deps.Log, Launches: l})
	snap := core.Refresh(c.ctx)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	// Whether a folder is free can't be said of an agent that did not answer.
	_ = c.failures(snap, false)
	occupied := launch.Occupied(snap, task.Resume)
	if o.terminal {
		return c.launchHere(l, plan, occupied)
	}
	if _, err := l.Sweep(c.ctx, l.Heir(snap)); err != nil {
		c.complain(err.Error())
	}
	started, err := l.Start(c.ctx, plan, occupied)
	if err != nil {
		return held(err)
	}
	return c.follow(l, core, started)
}

// taskOf completes a task by the flags.
func (c *command) taskOf(t adapters.Task, o launchOptions) (adapters.Task, error) {
	var err error
	t.Prompt, err = c.promptOf(o)
	t.Model, t.Mode, t.Terminal = o.model, o.mode, o.terminal
	return t, err
}

// requestOf is a launch as the flags and the settings want it.
func (c *command) requestOf(task adapters.Task, o launchOptions) launch.Request {
	set, _ := c.settings()
	req := launch.Request{Task: task, Group: o.group, Spec: absolute(o.spec), Force: o.force, KeepEnv: o.keepEnv || set.Launch.KeepEnv}
	for _, f := range o.files {
		req.Files = append(req.Files, absolute(f))
	}
	for _, h := range []launch.Hook{{When: launch.OnCreate, Command: o.onCreate}, {When: launch.OnComplete, Command: o.onComplete}} {
		if h.Command != "" {
			req.Hooks = append(req.Hooks, h)
		}
	}
	return req
}

// promptOf reads the prompt from where the flags say.
func (c *command) promptOf(o launchOptions) (string, error) {
	switch {
	case o.prompt != "" && o.promptFile != "":
		return "", wrong("give --prompt or --prompt-file, not both")
	case o.prompt == "-":
		return launch.ReadPrompt(c.ctx, os.Stdin)
	case o.promptFile != "":
		return launch.ReadPromptFile(c.ctx, o.promptFile)
	}
	return o.prompt, nil
}

func absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// printLaunch shows what would be started.
func (c *command) printLaunch(p *launch.Plan) {
	fmt.Fprintf(&c.out, "%s in %s\n", present.AgentName(p.Agent), c.home(present.Line(p.Request.Task.Dir)))
	fmt.Fprintf(&c.out, "  %s\n", present.Cut(present.Line(strings.Join(append([]string{p.Command.Path}, p.Command.Args...), " ")), 2000))
	if p.Command.Stdin != "" {
		fmt.Fprintf(&c.out, "  the prompt, %d bytes, goes to its standard input\n", len(p.Command.Stdin))
	}
	if len(p.Dropped) > 0 {
		fmt.Fprintf(&c.out, "  left out of its environment: %s (%s; --keep-env keeps them)\n", strings.Join(p.Dropped, ", "), p.Command.WhyDrop)
	}
}

// warnUnsafe makes a mode that skips all questions an explicit act.
func (c *command) warnUnsafe(a adapters.Adapter, o launchOptions) error {
	l, ok := a.(adapters.Launcher)
	if !ok || o.mode == "" || o.dryRun {
		return nil
	}
	for _, m := range l.Modes() {
		if m.Name == o.mode && m.Unsafe {
			c.complain(fmt.Sprintf("warning: in mode %s it %s", m.Name, m.Says))
			return c.confirm("Start it in this mode?", o.yes)
		}
	}
	return nil
}

// launchHere lets the agent take the place of this process.
func (c *command) launchHere(l *launch.Launches, p *launch.Plan, occupied func(string) error) error {
	if c.streams.In == nil || c.streams.Width == 0 {
		return wrong("--terminal needs a terminal")
	}
	_, env, undo, err := l.Here(c.ctx, p, occupied)
	if err != nil {
		return held(err)
	}
	if err := c.flushNow(); err != nil {
		return errors.Join(err, undo())
	}
	return errors.Join(replace(p.Command.Path, p.Command.Args, p.Request.Task.Dir, env), undo())
}

// settle is how long launch waits for the agent to list its session, or to fail.
const settle = 3 * time.Second

// follow tells what came of a start.
func (c *command) follow(l *launch.Launches, core *app.Core, s *launch.Started) error {
	for _, w := range s.Warnings {
		c.complain(w.Error())
	}
	ended := make(chan int, 1)
	go func() {
		if code, err := s.Child.Wait(); err == nil {
			ended <- code
		}
	}()
	r := s.Record
	fmt.Fprintf(&c.out, "started %s, process %d\n", r.ID, s.Child.PID())
	if err := c.flushNow(); err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(c.ctx, settle)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case code := <-ended:
			return c.endedAtOnce(l, r, code)
		case <-wait.Done():
			fmt.Fprintf(&c.out, "it does not list its session yet; its log is %s\n", c.home(r.Log))
			return nil
		case <-tick.C:
		}
		next, err := l.Learn(c.ctx, r, core.RefreshOne(wait, r.Agent))
		if err != nil && c.ctx.Err() == nil {
			c.complain(err.Error())
		}
		if r = next; r.Seen {
			fmt.Fprintf(&c.out, "session %s; its log is %s\n", present.Line(r.Session), c.home(r.Log))
			return nil
		}
	}
}

// endedAtOnce tells why an agent that was just started is over.
func (c *command) endedAtOnce(l *launch.Launches, r launch.Record, code int) error {
	if _, _, err := l.End(context.WithoutCancel(c.ctx), r.ID, &code); err != nil {
		c.complain(err.Error())
	}
	out, err := l.Output(r.ID, 2000)
	if err != nil {
		c.complain(err.Error())
	}
	if code == 0 {
		fmt.Fprintf(&c.out, "it is done already; its log is %s\n", c.home(r.Log))
		return nil
	}
	return fmt.Errorf("it ended at once with exit code %d: %s", code, present.Cut(present.Line(out), 1500))
}
