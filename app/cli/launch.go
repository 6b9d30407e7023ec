package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/store"
)

// launchCommand is the command launch, with the parts that resume shares.
type launchCommand struct {
	*env
	launch.Options
	model, mode, matrix string
	branch, baseBranch  string
	unusedSince         string
	worktree            bool
	dryRun, yes, wait   bool
	talk                bool // show the conversation while waiting
	// ownModel and ownMode report that the flags were given, even with an empty value: the defaults of the settings then do not apply.
	ownModel, ownMode bool
}

func newLaunch(e *env) *cobra.Command {
	c := &launchCommand{env: e, Options: launch.Options{Dir: "."}}
	return command(&cobra.Command{
		Use:        "launch [AGENT[=MODEL]…]",
		SuggestFor: []string{"run", "start", "new"},
		Short:      "Start an agent in a folder, in the background or in this terminal",
		Long: `Start an agent in a folder. It reads its prompt from standard input where the
agent allows that; the prompt never passes through a shell. In the background its
output goes to a log. The folder is locked until the agent's own process ends. A
folder is refused with exit code 10 if it is locked, or if a session runs in it or in
a folder above or below it, unless --force is given.

Several agents, or the same with several models, form a group: each works on the
same prompt in a separate git worktree, next to the repository. A matrix file
in YAML describes a group:

  prompt: Fix the flaky test
  matrix:
    - agent: claude-code
      models: [opus, sonnet]
    - agent: codex

Without an agent, the default_agent of the settings is launched. The settings may also
have a default model and mode for each agent; --model "" and --mode "" leave these
to the agent itself.

Agents: ` + agentNames(canLaunch) + ".",
		Example: `  rollcall launch codex -p "fix the build" --cwd ~/src/app
  rollcall launch claude-code=opus claude-code=sonnet codex --prompt-file todo.md`,
		Args: c.args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.matrix != "" && !cmd.Flags().Changed("cwd") {
				c.Dir = "" // the folder in the matrix file is used
			}
			if err := c.findHome(args); err != nil {
				return err
			}
			c.worktree = c.worktree || c.branch != "" || c.baseBranch != ""
			if len(args) > 1 || c.matrix != "" || c.worktree {
				if c.talk {
					return usageError("--follow shows one agent without a worktree: use --wait, and rollcall peek ID --follow")
				}
				return c.group(args)
			}
			return c.launch(c.members(args)[0])
		},
	},
		withFlag(&c.Dir, "cwd", "the `folder` to work in; for a group, a folder in the repository"),
		withFlag(&c.Home, "home", "the home of the agent, which stands for an account: its `name` in the settings, its folder's name, or its path"),
		withFlag(&c.matrix, "matrix", "a YAML `file` that describes what to launch"),
		withFlag(&c.worktree, "worktree", "use a new git worktree, next to the repository, for a single agent too"),
		withFlag(&c.branch, "branch", "the `name` of the worktree's new branch; implies --worktree"),
		withFlag(&c.baseBranch, "base-branch", "the `branch`, tag or commit at which the worktree begins; implies --worktree"),
		c.flags,
	)
}

// args takes the defaults of the settings, and returns an error if neither they nor the arguments name an agent.
func (c *launchCommand) args(cmd *cobra.Command, args []string) error {
	c.Defaults = launch.DefaultsOf(c.settings())
	c.ownModel, c.ownMode = cmd.Flags().Changed("model"), cmd.Flags().Changed("mode")
	if len(args) == 0 && c.matrix == "" && c.Defaults.Member("").Agent == "" {
		return usageError("launch takes an agent, or several; or use --matrix FILE, or set default_agent in config.toml\n  see: %s --help", cmd.CommandPath())
	}
	return nil
}

// recentHomes is how far back sessions show which homes are used.
const recentHomes = 7 * 24 * time.Hour

// findHome replaces the name of the home, if one is given, by its path.
func (c *launchCommand) findHome(args []string) error {
	if c.Home == "" {
		return nil
	}
	if c.matrix != "" || len(args) > 1 {
		return usageError("--home needs one agent")
	}
	agent := c.members(args)[0].Agent
	var used []string
	if !filepath.IsAbs(settings.ExpandHome(c.Home)) {
		_, snap, err := c.refresh(recentHomes, false)
		if err != nil {
			return err
		}
		used = app.HomesOf(snap.Own, agent)
	}
	set := c.settings()
	home, err := set.FindHome(agent, c.Home, used)
	if err != nil {
		return usageError("--home: %s", err)
	}
	c.Home = home
	return nil
}

func newResume(e *env) *cobra.Command {
	c := &launchCommand{env: e}
	return command(&cobra.Command{
		Use:        "resume ID",
		SuggestFor: []string{"attach"},
		Short:      "Resume a session, with a prompt or in this terminal",
		Long: `Resume the session with this id (a unique prefix is enough): with a
prompt (-p) in the background, or with --terminal in this terminal. The rules of
launch apply to its folder.`,
		Args: oneID,
		RunE: withArg(c.resume),
	},
		withFlag(&c.Dir, "cwd", "the `folder` to work in, instead of the session's"),
		withFlag(&c.unusedSince, "unused-since", "refuse if the session was active after this `time`"),
		hidden("unused-since"),
		c.flags,
	)
}

// flags adds the flags that launch and resume have in common.
func (c *launchCommand) flags(cmd *cobra.Command) {
	command(cmd,
		withFlag(&c.Prompt, "prompt,p", "the prompt; - reads it from standard input"),
		withFlag(&c.PromptFile, "prompt-file", "a `file` with the prompt"),
		withFlag(&c.model, "model", "the model, as the agent names it"),
		withFlag(&c.mode, "mode", "the permission mode, as the agent names it"),
		withFlag(&c.Spec, "spec", "a `file` that is appended to the prompt as its specification"),
		withFlag(&c.Files, "file", "a `file` that is appended to the prompt (repeat it for more)"),
		withFlag(&c.Group, "group", "a name that several launches share"),
		withFlag(&c.OnCreate, "on-create", "a `command` to run once the session is known; ROLLCALL_CWD is the folder"),
		withFlag(&c.OnComplete, "on-complete", "a `command` to run once its process has ended; ROLLCALL_CWD is the folder"),
		withFlag(&c.RetryHooks, "retry-hooks", "start a hook again if Rollcall dies meanwhile: it runs at least once, and maybe twice"),
		withFlag(&c.Force, "force", "launch even if the folder is locked or in use"),
		withFlag(&c.Terminal, "terminal", "interactively, in this terminal, instead of in the background"),
		withFlag(&c.Answerable, "answerable", "in the background: let Rollcall answer and prompt the agent, which then waits until it is stopped"),
		withFlag(&c.KeepEnv, "keep-env", "keep the environment variables that are removed by default"),
		withFlag(&c.wait, "wait", "wait for the end: exit code 0 if the agent's is 0, 11 if not, 12 if its code is not known"),
		withFlag(&c.talk, "follow,f", "wait for the end as --wait does, and show the conversation meanwhile"),
		withFlag(&c.dryRun, "dry-run,n", "show the command, start nothing"),
		withFlag(&c.yes, "yes,y", "don't ask before a mode that skips all questions"),
	)
}

func (c *launchCommand) resume(id string) error {
	s, _, _, err := c.find(id, false)
	if err != nil {
		return err
	}
	if err := launch.CheckResume(&s); err != nil {
		return err
	}
	if s.Live() && !c.Force {
		where := ifelse(s.Process.IsZero(), "", fmt.Sprintf(" (pid %d)", s.Process.PID))
		return fmt.Errorf("session %s is still running%s: %s; use --force to resume it anyway", s.ID, where, present.Status(s.Session))
	}
	if c.unusedSince != "" { // the keeper continues a session
		at, err := time.Parse(time.RFC3339Nano, c.unusedSince)
		if err != nil {
			return usageError("--unused-since must be a time as RFC 3339 has it, not %q", c.unusedSince)
		}
		if err := fuse.StillAtLimit(&s, at); err != nil {
			return fmt.Errorf("session %s: %w", s.ID, err)
		}
	}
	c.Resume = s.ID
	c.Dir, c.Home = cmp.Or(c.Dir, launch.ResumeFrom(&s)), s.Home
	c.Defaults = launch.DefaultsOf(c.settings())
	c.ownMode = true // the defaults are for new sessions
	return c.launch(launch.Member{Agent: s.Agent, Model: c.model, Mode: c.mode})
}

// launch starts one agent.
func (c *launchCommand) launch(m launch.Member) error {
	c.wait = c.wait || c.talk
	if c.wait && c.Terminal {
		return usageError("use %s or --terminal, not both: --terminal always waits for the agent", ifelse(c.talk, "--follow", "--wait"))
	}
	list, _ := c.open()
	a := launch.Find(list, m.Agent)
	if a == nil {
		return unknownAgent(m.Agent)
	}
	req, err := c.request()
	if err != nil {
		return err
	}
	req.Task.Model, req.Task.Mode = m.Model, m.Mode
	if err := c.check(list, &req, m); err != nil {
		return err
	}
	env, left := c.Defaults.Environment(os.Environ())
	plan, err := launch.Prepare(a, req, env)
	if err != nil {
		return err
	}
	c.print(plan, left)
	c.printFuses(plan.Request.Task.Dir)
	if err := c.confirmUnsafe(list, m); err != nil || c.dryRun {
		return err
	}
	l, err := c.launches()
	if err != nil {
		return err
	}
	core, snap, err := c.refresh(0, false)
	if err != nil {
		return err
	}
	c.warnFailed(snap) // an agent that did not answer may have a session in the folder
	occupied := launch.Occupied(snap, c.Resume)
	if c.Terminal {
		return c.launchHere(l, plan, occupied)
	}
	if _, err := l.Sweep(c.ctx, l.Successor(snap)); err != nil {
		c.warn(err.Error())
	}
	started, err := l.Start(c.ctx, plan, occupied)
	if err != nil {
		return folderError(err)
	}
	return c.follow(l, core, started)
}

// request returns the launch that the flags and the settings ask for.
func (c *launchCommand) request() (req launch.Request, err error) {
	c.KeepEnv, c.Pipes = c.KeepEnv || c.settings().Launch.KeepEnv, true
	switch {
	case c.Prompt != "" && c.PromptFile != "":
		return req, usageError("use --prompt or --prompt-file, not both")
	case c.Prompt == "-":
		c.Prompt, err = launch.ReadPrompt(c.ctx, os.Stdin)
		if err != nil {
			return req, err
		}
	}
	return c.Request(c.ctx)
}

// check returns an error that names the flag if no agent can be started with its value.
func (c *launchCommand) check(list []adapters.Adapter, req *launch.Request, members ...launch.Member) error {
	if strings.TrimSpace(req.Task.Prompt) == "" && req.Spec == "" && len(req.Files) == 0 && !c.Terminal {
		if c.matrix != "" {
			return usageError("the matrix has no prompt; add prompt or prompt_file")
		}
		other := ifelse(len(members) > 1, "", " or --terminal") // --terminal starts one agent only
		return usageError("a background launch needs a prompt: use -p TEXT, --prompt-file FILE%s", other)
	}
	for _, m := range members {
		a := launch.Find(list, m.Agent)
		if a == nil {
			return unknownAgent(m.Agent)
		}
		wrong, ok := errors.AsType[*launch.ValueError](launch.CheckMember(a, m))
		switch {
		case !ok:
		case wrong.Key == "mode" && !c.ownMode && m.Mode == c.Defaults.Member(m.Agent).Mode:
			return fmt.Errorf("settings: agents.%s.mode %s: correct it in config.toml, or use --mode", m.Agent, wrong.Must)
		default:
			return usageError("%s%w", ifelse(c.matrix == "", "--", ""), wrong)
		}
	}
	return nil
}

// print shows what would be started.
func (c *launchCommand) print(p *launch.Plan, left []string) {
	c.printf("%s in %s\n", present.AgentName(p.Agent), c.path(p.Request.Task.Dir))
	c.printf("  %s\n", present.Cut(present.Line(strings.Join(append([]string{p.Command.Path}, p.Command.Args...), " ")), 2000))
	c.printIf(p.Command.Stdin != "", "  the prompt (%s) goes to its standard input\n", plural(len(p.Command.Stdin), "byte"))
	c.printIf(len(p.Command.Set) > 0, "  with %s\n", present.Line(strings.Join(p.Command.Set, ", ")))
	c.printIf(!p.Command.Secret.IsZero(), "  with a random password (%s), so that Rollcall can answer it\n", p.Command.Secret)
	c.printIf(p.Command.Pipe, "  it waits for more prompts after its turn, until it is stopped\n")
	c.printIf(len(p.Dropped) > 0, "  left out of its environment: %s (%s; --keep-env keeps them)\n", strings.Join(p.Dropped, ", "), p.Command.WhyDrop)
	c.printIf(len(left) > 0, "  left out of its environment, as the settings say: %s\n", strings.Join(left, ", "))
}

// printFuses shows the fuses that may expire while an agent works in a folder, and how they are extended.
func (c *launchCommand) printFuses(folder string) {
	f, err := c.deps.Fuses()
	if err != nil {
		c.warn(err.Error())
		return
	}
	near, err := f.Near(folder)
	if err != nil {
		c.warn(err.Error())
	}
	for _, x := range near {
		note := ifelse(x.Note == "", "", " ("+shortLine(x.Note)+")")
		c.printf("  the fuse of %s%s expires at %s, maybe while the agent works; to extend it: rollcall fuse extend %s --by 1h\n",
			c.path(x.Path), note, clock(x.Expires), store.Quote(x.Path))
	}
}

// confirmUnsafe asks before an agent starts in a mode that skips all questions.
func (c *launchCommand) confirmUnsafe(list []adapters.Adapter, m launch.Member) error {
	if c.dryRun {
		return nil
	}
	for _, mode := range launch.UnsafeModes(list, []launch.Member{m}) {
		c.warn(fmt.Sprintf("warning: in mode %s the agent %s", mode.Name, mode.Says))
		return c.confirm("Start it in this mode?", c.yes, "nothing was done")
	}
	return nil
}

// launchHere replaces this process with the agent.
func (c *launchCommand) launchHere(l *launch.Launches, p *launch.Plan, occupied func(string) error) error {
	if c.streams.In == nil || c.streams.Width == 0 {
		return usageError("--terminal needs a terminal")
	}
	_, env, undo, err := l.Here(c.ctx, p, occupied)
	if err != nil {
		return folderError(err)
	}
	if err := c.flush(); err != nil {
		return errors.Join(err, undo())
	}
	return errors.Join(replace(p.Command.Path, p.Command.Args, p.Request.Task.Dir, env), undo())
}
