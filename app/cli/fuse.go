package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/webhook"
	"rollcall/app/present"
)

func newFuse(e *env) *cobra.Command {
	return newGroup("fuse", "Set timers for folders, to clean up what a session left running there",
		`A fuse is a timer of a folder. When it expires, a script of yours runs, a webhook
is called, or both. The keeper does this (rollcall keep). The script runs in
Rollcall's own folder, since agents write into theirs; ROLLCALL_CWD names the
folder of the fuse.
There is one fuse per folder, and it is never overwritten.`,
		newFuseSet(e), newFuseExtend(e), newFuseCancel(e), newFuseRetry(e), newFuseList(e))
}

// newFuseChange returns a sub-command that changes the fuse of one folder. change
// returns the fuse and what happened to it.
func newFuseChange(e *env, use, short string, change func(f *fuse.Fuses, folder string) (fuse.Fuse, string, error)) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: oneFolder, RunE: with(e.deps.Fuses, func(f *fuse.Fuses, args []string) error {
		x, text, err := change(f, args[0])
		if err != nil {
			return err
		}
		e.printf("%s: %s\n", e.path(x.Path), text)
		return nil
	})}
}

func newFuseSet(e *env) *cobra.Command {
	var x fuse.Fuse
	in := fuse.Default
	return command(newFuseChange(e, "set FOLDER", "Set a fuse", func(f *fuse.Fuses, folder string) (fuse.Fuse, string, error) {
		if err := checkFuse(&x, in); err != nil {
			return x, "", err
		}
		x.Path = folder
		set, err := f.Set(e.ctx, x, in)
		return set, fmt.Sprintf("expires at %s, in %s", clock(set.Expires), in), err
	}),
		withFlag(&in, "in", "when it expires"),
		withFlag(&x.Note, "note", "the purpose of the fuse"),
		withFlag(&x.Event, "event", "a `name` that is passed to the script and the webhook"),
		withFlag(&x.Script, "script", "a `command` to run, for 2 minutes at most; ROLLCALL_CWD is the folder"),
		withFlag(&x.Again, "retry", "run it again if Rollcall dies meanwhile: it runs at least once, and maybe twice"),
		withFlag(&x.Webhook, "webhook", "an `address` to post to"),
		func(cmd *cobra.Command) {
			cmd.Example = `  rollcall fuse set . --in 30m --note "test cluster" --script 'kind delete cluster'`
		},
	)
}

// checkFuse returns an error for flags that no fuse can have.
func checkFuse(x *fuse.Fuse, in time.Duration) error {
	switch err := webhook.CheckURL(x.Webhook); {
	case x.Script == "" && x.Webhook == "":
		return usageError("a fuse needs something to do: use --script, --webhook or both")
	case x.Webhook != "" && err != nil:
		return usageError("--webhook: %w", err)
	}
	return checkDelay("in", in)
}

// checkDelay returns an error for a time after which no fuse can expire. flag is the name of its flag.
func checkDelay(flag string, d time.Duration) error {
	if d <= 0 || d > fuse.Most {
		return usageError("--%s must be more than 0 seconds and at most 30 days, such as 90s, 10m or 2h; not %s", flag, d)
	}
	return nil
}

func newFuseExtend(e *env) *cobra.Command {
	by := fuse.Default
	return command(newFuseChange(e, "extend FOLDER", "Let a fuse expire later", func(f *fuse.Fuses, folder string) (fuse.Fuse, string, error) {
		if err := checkDelay("by", by); err != nil {
			return fuse.Fuse{}, "", err
		}
		x, err := f.Extend(e.ctx, folder, by)
		return x, "expires at " + clock(x.Expires), err
	}),
		withFlag(&by, "by", "how much later"),
	)
}

func newFuseCancel(e *env) *cobra.Command {
	return newFuseChange(e, "cancel FOLDER", "Cancel a fuse", func(f *fuse.Fuses, folder string) (fuse.Fuse, string, error) {
		x, err := f.Cancel(e.ctx, folder)
		return x, "cancelled", err
	})
}

func newFuseRetry(e *env) *cobra.Command {
	cmd := newFuseChange(e, "retry FOLDER", "Run the script and webhook of an expired fuse again", func(f *fuse.Fuses, folder string) (fuse.Fuse, string, error) {
		x, err := f.Retry(e.ctx, folder)
		return x, "runs again now", err
	})
	cmd.Long = `Run the script and the webhook of an expired fuse again, such as when Rollcall died
while the script ran and its result is not known. They may then run twice.`
	return cmd
}

func newFuseList(e *env) *cobra.Command {
	var asJSON bool
	return command(&cobra.Command{
		Use:   "list",
		Short: "List the fuses that are set, and those that fired in the last 24 hours",
		Args:  noArgs,
		RunE: with(e.deps.Fuses, func(f *fuse.Fuses, _ []string) error {
			list, err := f.List()
			if asJSON {
				return errors.Join(err, e.json(fuseDocument{Schema: schema, Fuses: each(list, fuseAsJSON)}))
			}
			if len(list) == 0 {
				e.printf("no fuse is set\n")
			}
			for i := range list {
				printFuse(e.output, &list[i])
			}
			return err
		}),
	},
		jsonFlag(&asJSON),
	)
}

func printFuse(o *output, x *fuse.Fuse) {
	state := "expires at " + clock(x.Expires)
	switch {
	case x.Fired() && len(x.Results) > 0:
		state = "fired at " + clock(x.FiredAt) + ": " + present.Line(strings.Join(x.Results, "; "))
	case x.ResultUnknown() && x.Continue != nil:
		state = "begun at " + clock(x.FiredAt) + ", result unknown: Rollcall ended meanwhile; it is not tried again"
	case x.ResultUnknown():
		state = "started at " + clock(x.FiredAt) + ", result unknown: Rollcall ended meanwhile (rollcall fuse retry runs it again)"
	case x.Fired() && !x.Finished():
		state = "started at " + clock(x.FiredAt) + ", not finished yet"
	case x.Fired():
		state = "fired at " + clock(x.FiredAt)
	case x.Foreign():
		state += "; only a keeper on " + present.Line(x.Host) + ", where it was set, fires it (rollcall fuse cancel removes it)"
	case time.Now().After(x.Expires):
		state = "overdue since " + clock(x.Expires) + ": no keeper ran; this command starts one"
	}
	o.printf("%s\n  %s\n", o.path(x.Path), state)
	if c := x.Continue; c != nil {
		o.printf("  continues %s %s: %s\n", present.AgentName(c.Agent), present.Line(c.Session), shortLine(c.Prompt))
	}
	for _, part := range []struct{ name, value string }{{"note", x.Note}, {"event", x.Event}, {"script", x.Script}} {
		o.printIf(part.value != "", "  %s: %s\n", part.name, shortLine(part.value))
	}
	o.printIf(x.Webhook != "", "  calls a webhook\n")
}

type fuseDocument struct {
	Schema int        `json:"schema"`
	Fuses  []fuseJSON `json:"fuses"`
}

type fuseJSON struct {
	Path    string `json:"path"`
	Note    string `json:"note,omitempty"`
	Event   string `json:"event,omitempty"`
	Script  string `json:"script,omitempty"`
	SetAt   string `json:"set_at"`
	Expires string `json:"expires"`
	FiredAt string `json:"fired_at,omitempty"`
	// FinishedAt is missing while the script runs. It is also missing if Unknown reports that the
	// result of the script is not known.
	FinishedAt string   `json:"finished_at,omitempty"`
	Unknown    bool     `json:"result_unknown,omitempty"`
	Results    []string `json:"results,omitempty"`

	Continue *continueJSON `json:"continue,omitempty"`
}

// continueJSON is what the timer of a session does.
type continueJSON struct {
	Agent   adapters.Name `json:"agent"`
	Session string        `json:"session"`
	Prompt  string        `json:"prompt"`
}

func fuseAsJSON(x *fuse.Fuse) fuseJSON {
	j := fuseJSON{Path: x.Path, Note: x.Note, Event: x.Event, Script: x.Script, SetAt: timestamp(x.SetAt), Expires: timestamp(x.Expires),
		FiredAt: timestamp(x.FiredAt), FinishedAt: timestamp(x.FinishedAt), Unknown: x.ResultUnknown(), Results: x.Results}
	if c := x.Continue; c != nil {
		j.Continue = &continueJSON{c.Agent, c.Session, c.Prompt}
	}
	return j
}
