// Package show shows a session to the user: its terminal, its folder or an editor, for the command line, the window, the tray and notifications. If its
// terminal can't be shown, a plan says why, and offers an alternative.
package show

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/focus"
	"rollcall/app/control/opener"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/proc"
	"rollcall/proc/desktop"
)

// Core provides the sessions and their adapters; *app.Core implements it.
type Core interface {
	Adapter(name adapters.Name) adapters.Adapter
	Current(ctx context.Context, agent adapters.Name, id string) (app.Session, error)
}

// Shower shows sessions. Its methods may be called on any goroutine, and take seconds: never call them on the goroutine of a window.
type Shower struct {
	core     Core
	finder   *focus.Finder
	desktops func() []desktop.Desktop // always the same ones, so that a desktop that hangs blocks one goroutine at most
	settings func() settings.Settings // called at every use, so that a changed setting counts at once
	look     func(string) (string, error)
	table    focus.Table
}

// New returns a Shower over the agents of core. set returns the user's settings; nil: there are none.
func New(core Core, table focus.Table, set func() settings.Settings) *Shower {
	if set == nil {
		set = func() settings.Settings { return settings.Settings{} }
	}
	return &Shower{core: core, finder: focus.New(table, nil), desktops: sync.OnceValue(focus.Desktops), settings: set, look: launch.LookPath, table: table}
}

// OfferKind is the kind of an offer.
type OfferKind string

// The kinds of offers.
const (
	OfferAttach OfferKind = "attach" // a terminal that shows the session: Attach
	OfferResume OfferKind = "resume" // the session has stopped, and can be resumed
	OfferFolder OfferKind = "folder" // its folder: Folder, Editor
)

// Offer is what can be done instead of showing the terminal.
type Offer struct {
	Kind OfferKind
	Text string // begins with a verb: "attach a terminal to it"
	// Command is the command that does so in a terminal; nil: there is none.
	Command []string
}

// Shell returns the command for a POSIX shell.
func (o *Offer) Shell() string {
	words := make([]string, len(o.Command))
	for i, w := range o.Command {
		words[i] = store.Quote(w)
	}
	return strings.Join(words, " ")
}

// Plan describes how a session can be shown.
type Plan struct {
	Session app.Session
	Steps   []focus.Step
	Note    string // why it can't be shown, or what the steps leave to the user; one sentence, or empty
	Seen    bool   // after the steps the user sees the session
	Offers  []Offer
}

// NotShownError reports that a session could not be shown to the user.
type NotShownError struct {
	Plan *Plan
	Err  error // the step that failed; nil: Plan.Note says why nothing was tried
}

func (e *NotShownError) Error() string { return "its terminal can't be shown: " + e.Reason() }

// Reason returns in one sentence why the session was not shown.
func (e *NotShownError) Reason() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return e.Plan.Note
}

// Unwrap returns the cause.
func (e *NotShownError) Unwrap() error { return e.Err }

// Plan asks the agent for a session as it is now, and returns how it can be shown. It changes nothing. Its errors are those of
// Core.Current.
func (s *Shower) Plan(ctx context.Context, agent adapters.Name, id string) (*Plan, error) {
	x, err := s.core.Current(ctx, agent, id)
	if err != nil {
		return nil, err
	}
	return s.PlanOf(ctx, x), ctx.Err()
}

// PlanOf returns how a session can be shown. The caller has asked for the session right before.
func (s *Shower) PlanOf(ctx context.Context, x app.Session) *Plan {
	p := &Plan{Session: x, Note: elsewhere(&x)}
	if p.Note == "" {
		s.place(ctx, p)
	}
	if !p.Seen {
		s.offer(ctx, p)
	}
	return p
}

// elsewhere returns why a session has no terminal on this machine; empty: it may have one.
func elsewhere(x *app.Session) string {
	switch {
	case x.Machine != "":
		return "it runs on " + present.Line(x.Machine)
	case x.Remote != "":
		return "it runs on " + present.Line(x.Remote) + ", without its own terminal"
	case !x.Live():
		return "it has stopped"
	case !x.Terminal.IsZero():
		return ""
	case x.Process.IsZero():
		return "its process is not known"
	case x.Unattended:
		return "its terminal was closed, and it goes on in the background"
	}
	return ""
}

// place adds the steps that show the terminal of the session's process.
func (s *Shower) place(ctx context.Context, p *Plan) {
	id := p.Session.Terminal
	if id.IsZero() {
		id = p.Session.Process
	}
	folder := ""
	if p.Session.HasLocalFolder() {
		folder = p.Session.CWD
	}
	found, err := s.finder.Plan(ctx, s.desktops(), id, folder, s.folders()...)
	if found == nil {
		p.Note = err.Error()
		return
	}
	p.Steps = found.Steps
	p.Note = found.Note
	p.Seen = found.Seen
	if p.Session.Container != "" && !p.Seen && !strings.Contains(p.Note, "runs in a container") {
		p.Note = "it runs in a container; " + p.Note
	}
	if found.Attach != nil {
		p.Offers = append(p.Offers, Offer{OfferAttach, "attach a terminal to it", found.Attach})
	}
}

// folders returns the folders of all sessions that are known now.
func (s *Shower) folders() (list []string) {
	known, ok := s.core.(interface{ Snapshot() *app.Snapshot })
	if !ok {
		return nil
	}
	if snapshot := known.Snapshot(); snapshot != nil {
		for x := range snapshot.All() {
			if x.HasLocalFolder() {
				list = append(list, x.CWD)
			}
		}
	}
	return list
}

// offer adds what can be done instead of showing the terminal.
func (s *Shower) offer(ctx context.Context, p *Plan) {
	x := &p.Session
	foreign := !x.Process.IsZero() && errors.Is(proc.CheckBoundary(x.Process), proc.ErrForeign)
	if len(p.Offers) == 0 && x.Live() && x.Machine == "" && x.Remote == "" && !foreign {
		if argv, err := s.attachCommand(ctx, x); err == nil {
			p.Offers = append(p.Offers, Offer{OfferAttach, "attach a terminal to it", argv})
		}
	}
	if !x.Live() && launch.CheckResume(x) == nil {
		p.Offers = append(p.Offers, Offer{OfferResume, "resume it", []string{"rollcall", "resume", x.ID, "--terminal"}})
	}
	if x.Machine != "" {
		p.Offers = append(p.Offers, Offer{OfferAttach, "show it there", []string{"rollcall", "focus", x.ID}})
	}
	if x.HasLocalFolder() {
		p.Offers = append(p.Offers, Offer{OfferFolder, "open its folder", nil})
	}
}

// attachCommand returns the agent's own command that shows a session in a terminal.
func (s *Shower) attachCommand(ctx context.Context, x *app.Session) ([]string, error) {
	a, ok := s.core.Adapter(x.Agent).(adapters.Attacher)
	l, can := s.core.Adapter(x.Agent).(adapters.Launcher)
	if !ok || !can {
		return nil, adapters.ErrNoAttach
	}
	if err := launch.CheckID(x.ID); err != nil {
		return nil, err
	}
	program, err := l.Program(s.look)
	if err != nil { // not in PATH: the session's own process may be the program
		program = s.programOf(x)
		if program == "" {
			return nil, err
		}
	}
	c, err := a.Attach(ctx, program, x.Session)
	if err != nil {
		return nil, err
	}
	return append([]string{c.Path}, c.Args...), nil
}

// programOf returns the program of the process of a session, if it is the program of its agent and not an interpreter; otherwise "".
func (s *Shower) programOf(x *app.Session) string {
	d, _ := adapters.Describe(x.Agent)
	exe, err := s.table.Exe(x.Process)
	if err != nil || d.Program == "" || strings.TrimSuffix(filepath.Base(exe), ".exe") != d.Program {
		return ""
	}
	if info, err := os.Stat(exe); err != nil || !info.Mode().IsRegular() {
		return "" // replaced by an update
	}
	return exe
}

// Show shows a session, and returns what was done. The error is a *NotShownError if no step shows the session or a step failed; otherwise it is that of Plan.
func (s *Shower) Show(ctx context.Context, agent adapters.Name, id string) (*Plan, error) {
	p, err := s.Plan(ctx, agent, id)
	if err != nil {
		return nil, err
	}
	return p, s.Run(ctx, p)
}

// Run carries out the steps of a plan. It omits the steps after one that fails.
func (s *Shower) Run(ctx context.Context, p *Plan) error {
	done := ""
	for i := range p.Steps {
		step := &p.Steps[i]
		if err := step.Run(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if !p.Seen {
				break
			}
			s.offer(ctx, p)
			return &NotShownError{Plan: p, Err: fmt.Errorf("%s%s: %w", done, step.Text, err)}
		}
		done += step.Text + ": done; "
	}
	if !p.Seen {
		return &NotShownError{Plan: p}
	}
	return nil
}

// errNoFolder reports that a session has no folder on this machine.
var errNoFolder = errors.New("its folder is not on this machine, or is not known")

// Folder opens the folder of a session in the desktop's file manager.
func (s *Shower) Folder(x *app.Session) error {
	if !x.HasLocalFolder() {
		return errNoFolder
	}
	return s.opener().Folder(x.CWD)
}

// Editor opens the folder of a session in the user's editor, and returns the editor's name.
func (s *Shower) Editor(x *app.Session) (string, error) {
	if !x.HasLocalFolder() {
		return "", errNoFolder
	}
	return s.opener().Editor(x.CWD)
}

func (s *Shower) opener() *opener.Opener {
	set := s.settings()
	return opener.New(&set)
}

// Here returns the path of the program of an offer's command, and the folder in which the command runs.
func (s *Shower) Here(x *app.Session, o *Offer) (path, folder string, err error) {
	if len(o.Command) == 0 {
		return "", "", errors.New("there is no command that shows it in a terminal")
	}
	path, err = s.look(o.Command[0])
	if err != nil {
		return "", "", fmt.Errorf("%s is not installed", o.Command[0])
	}
	folder = x.CWD
	if info, err := os.Stat(folder); !x.HasLocalFolder() || err != nil || !info.IsDir() {
		folder, err = os.UserHomeDir()
		return path, folder, err
	}
	return path, folder, nil
}

// Attach opens a terminal that runs the command of an offer for a session, and returns the terminal's name.
func (s *Shower) Attach(x *app.Session, o *Offer) (string, error) {
	path, folder, err := s.Here(x, o)
	if err != nil {
		return "", err
	}
	return s.opener().Terminal(folder, append([]string{path}, o.Command[1:]...))
}
