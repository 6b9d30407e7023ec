package cli

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rollcall/app/control/focus"
	"rollcall/app/control/show"
	"rollcall/app/machine"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/proc"
)

type focusCommand struct {
	*env
	print  bool
	attach bool
	asJSON bool
}

func newFocus(e *env) *cobra.Command {
	c := &focusCommand{env: e}
	return command(&cobra.Command{
		Use:        "focus SESSION",
		SuggestFor: []string{"show", "goto", "jump", "raise", "open"},
		Short:      "Show the terminal of a session: raise its window, select its pane or tab",
		Long: `Raise the window of the terminal that shows the session with this id (a unique prefix
is enough), of the project with this name or with this text in its title, and select its pane or tab: tmux, screen, kitty and WezTerm,
on X11, sway, Hyprland, KDE Plasma, macOS and Windows. A window of VS Code or a similar
editor is found by its folder.

Where that can't be done, the reason is printed with what can be done instead, and the
exit code is 1. With --attach, a session that no terminal shows is shown in this one,
where its agent or its multiplexer allows it.`,
		Args: oneName,
		RunE: withArg(c.run),
	},
		withFlag(&c.print, "print", "print what would be done, and do nothing"),
		withFlag(&c.attach, "attach", "open a session that runs in the background in this terminal"),
		withFlag(&c.asJSON, "json", "print JSON"),
	)
}

func (c *focusCommand) run(id string) error {
	if c.attach && (c.print || c.asJSON) {
		return usageError("--attach needs a terminal: use it without --print and --json")
	}
	s, _, core, err := c.findNamed(id, false)
	if err != nil {
		return err
	}
	shower := show.New(core, proc.Open(), func() settings.Settings { return c.settings() })
	plan := shower.PlanOf(c.ctx, s)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if c.attach && !plan.Seen {
		return c.attachHere(shower, plan)
	}
	if !c.print {
		err = shower.Run(c.ctx, plan)
	}
	if c.asJSON {
		if printed := c.json(focusAsJSON(plan, !c.print, err)); printed != nil {
			return printed
		}
	} else {
		c.printFocus(plan, err)
	}
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	if err != nil {
		if c.asJSON {
			if printed := c.flush(); printed != nil {
				return printed
			}
			return &exitError{code: Failure}
		}
		return errors.New(s.ID + ": " + err.Error() + offersText(plan))
	}
	return nil
}

// printFocus prints the steps of a plan, as done or as they would be, and what they leave to the user.
func (c *focusCommand) printFocus(p *show.Plan, err error) {
	if err != nil {
		return
	}
	for i := range p.Steps {
		c.printf("%s\n", present.Line(p.Steps[i].Text))
	}
	switch {
	case p.Seen && p.Note != "":
		c.printf("note: %s\n", present.Line(p.Note))
	case !p.Seen:
		c.printf("its terminal can't be shown: %s%s\n", present.Line(p.Note), cleanLines(offersText(p)))
	}
}

// offersText returns what the user can do instead of showing the session, one line each.
func offersText(p *show.Plan) string {
	var b strings.Builder
	for i := range p.Offers {
		o := &p.Offers[i]
		switch {
		case o.Command != nil:
			b.WriteString("\n  to " + o.Text + ": " + o.Shell())
		case o.Kind == show.OfferFolder:
			b.WriteString("\n  its folder: " + p.Session.CWD)
		}
	}
	return b.String()
}

// attachHere replaces this process with the command that shows the session in this terminal.
func (c *focusCommand) attachHere(shower *show.Shower, p *show.Plan) error {
	if c.streams.In == nil || c.streams.Width == 0 {
		return usageError("--attach needs a terminal")
	}
	for i := range p.Offers {
		if p.Offers[i].Kind != show.OfferAttach {
			continue
		}
		if err := shower.Run(c.ctx, p); c.ctx.Err() != nil { // selects the pane
			return err
		}
		path, dir, err := shower.Here(&p.Session, &p.Offers[i])
		if err != nil {
			return err
		}
		return replace(path, p.Offers[i].Command[1:], dir, os.Environ())
	}
	return errors.New(p.Session.ID + ": it can't be shown in this terminal: " + p.Note)
}

// focusJSON is the JSON document of focus.
type focusJSON struct {
	Schema  int                 `json:"schema"`
	Session machine.SessionJSON `json:"session"`
	Shown   bool                `json:"shown"`
	Steps   []focusStepJSON     `json:"steps"`
	Note    string              `json:"note,omitempty"`
	Error   string              `json:"error,omitempty"`
	Offers  []offerJSON         `json:"offers,omitempty"`
}

type focusStepJSON struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

type offerJSON struct {
	Kind    string   `json:"kind"`
	Text    string   `json:"text"`
	Command []string `json:"command,omitempty"`
}

// focusAsJSON returns the document for a plan. done reports that the steps of the plan were tried, and err is the error with which they failed, if they did.
func focusAsJSON(p *show.Plan, done bool, err error) focusJSON {
	return focusJSON{Schema: schema, Session: sessionAsJSON(&p.Session), Shown: done && err == nil, Note: p.Note, Error: errorText(err),
		Steps:  each(p.Steps, func(s *focus.Step) focusStepJSON { return focusStepJSON{string(s.Kind), s.Text} }),
		Offers: each(p.Offers, func(o *show.Offer) offerJSON { return offerJSON{string(o.Kind), o.Text, o.Command} })}
}
