package focus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"rollcall/proc"
	"rollcall/proc/desktop"
)

// Kind is the kind of thing that a step of a plan acts on.
type Kind string

// The kinds of steps.
const (
	WindowStep Kind = "window" // gives a window the focus
	PaneStep   Kind = "pane"   // makes a pane of a terminal multiplexer the active one
	TabStep    Kind = "tab"    // makes a tab of a terminal the active one
	EditorStep Kind = "editor" // raises the window of an editor by its folder
)

// Step is one part of a plan.
type Step struct {
	Kind Kind
	Text string // begins with a verb: "raise the window of xterm (process 4711)"
	run  func(ctx context.Context) error
	// limit is how long it may take; 0: stepLimit.
	limit time.Duration
}

// stepLimit is how long a step may take. It may ask a program twice.
const stepLimit = 2 * answerLimit

// Run does the step. It returns nil only if the window, pane or tab is reported to be shown.
func (s *Step) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.limit, stepLimit))
	defer cancel()
	return s.run(ctx)
}

// Plan describes how the terminal of a process can be shown.
type Plan struct {
	// Steps are done in this order. If there are none, nothing can be done.
	Steps []Step
	// Note is one sentence: why nothing can be shown, or what the steps leave to the user. It may be empty.
	Note string
	// Attach is the command that shows the process in another terminal, if the process is in a multiplexer to which no terminal is attached.
	Attach []string
	// Seen reports that the user sees the process after the steps. It is false without steps, and where they only prepare what Attach shows.
	Seen bool
}

// prepareLimit is how long making a plan may take.
const prepareLimit = 4 * time.Second

// errGone reports that the process of a plan has ended.
var errGone = errors.New("its process has ended")

// request contains the parameters of a plan, and what was found out for it.
type request struct {
	*Finder
	desktops []desktop.Desktop
	folder   string
	others   []string
	plan     *Plan

	asked   bool
	windows []windowOn // windows of all desktops, once they were asked
	failed  error      // why the windows are not known
}

// windowOn is a window and its desktop.
type windowOn struct {
	desktop.Window
	desktop desktop.Desktop
}

// Plan returns how the terminal of a process can be shown on the desktops. It changes nothing. folder is the folder in which the
// process works, for editors that know their windows by folder; it may be empty. others are the folders of other sessions: no program
// in any of these folders is executed. The error is for a process that has ended.
func (f *Finder) Plan(ctx context.Context, desktops []desktop.Desktop, id proc.Identity, folder string, others ...string) (*Plan, error) {
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	x, err := f.table.Find(id.PID)
	if err != nil || x.Identity != id {
		return nil, errGone
	}
	r := &request{Finder: f, desktops: desktops, folder: folder, others: others, plan: &Plan{}}
	p := f.find(x)
	if p.foreign != nil {
		r.plan.Note = "it " + p.foreign.Error()
		return r.plan, ctx.Err()
	}
	r.show(ctx, &p, 0)
	return r.plan, ctx.Err()
}

func (r *request) add(kind Kind, text string, run func(ctx context.Context) error) {
	r.plan.Steps = append(r.plan.Steps, Step{Kind: kind, Text: text, run: run})
}

// show adds the steps that show a place.
func (r *request) show(ctx context.Context, p *Place, nested int) {
	if nested == maxNested {
		r.plan.Note = "too many terminals run inside each other"
		return
	}
	switch server, kind := r.multiplexer(p); kind {
	case "tmux":
		r.showInTmux(ctx, p, server, nested)
	case "screen":
		r.showInScreen(ctx, p, server, nested)
	case "zellij":
		r.showInZellij(p, server)
	default:
		r.showWindow(ctx, p)
	}
}

// multiplexer returns the terminal multiplexer that is the nearest ancestor of a place.
func (f *Finder) multiplexer(p *Place) (proc.Identity, string) {
	for _, id := range p.Ancestors {
		switch {
		case p.Tmux != "" && id.PID == p.TmuxServer:
			return id, "tmux"
		case id.PID == screenServer(p.vars["STY"]):
			return id, "screen"
		case f.isZellij(id, p.vars[zellijName]):
			return id, "zellij"
		}
	}
	return proc.Identity{}, ""
}

// list asks the desktops for their windows, once.
func (r *request) list(ctx context.Context) {
	if r.asked {
		return
	}
	r.asked = true
	for _, d := range r.desktops {
		windows, err := d.Windows(ctx)
		if err != nil {
			r.failed = fmt.Errorf("%s does not report its windows: %w", d.Name(), err)
			continue
		}
		for _, w := range windows {
			r.windows = append(r.windows, windowOn{w, d})
		}
	}
}

// terminalOf returns the index of the nearest process of a place's chain that has windows, and its windows; -1 if there is none. A pid of a window counts only
// if the process that was an ancestor still has it. All windows are on one desktop, the first that has some.
func (r *request) terminalOf(ctx context.Context, p *Place) (at int, windows []windowOn) {
	r.list(ctx)
	for i, id := range p.chain() {
		for _, w := range r.windows {
			if w.PID == id.PID && (len(windows) == 0 || windows[0].desktop == w.desktop) {
				windows = append(windows, w)
			}
		}
		if len(windows) == 0 {
			continue
		}
		if now, err := r.table.Find(id.PID); err == nil && now.Identity == id {
			return i, windows
		}
		windows = nil
	}
	return -1, nil
}

// isDetached reports whether a place left the terminal that is the i-th process of its chain: the process itself has no terminal, but a process between the two
// has one.
func (r *request) isDetached(p *Place, i int) bool {
	chain := p.chain()
	if own, err := r.table.Terminal(chain[0]); err != nil || own != "" {
		return false
	}
	return slices.ContainsFunc(chain[1:max(i, 1)], func(id proc.Identity) bool {
		terminal, err := r.table.Terminal(id)
		return err == nil && terminal != ""
	})
}

// showWindow adds the steps that raise the window of a place and select its tab.
func (r *request) showWindow(ctx context.Context, p *Place) {
	at, windows := r.terminalOf(ctx, p)
	if at >= 0 && r.isDetached(p, at) {
		r.plan.Note = noteBackground
		return
	}
	if r.showEditor(p, at) {
		return
	}
	tab, ambiguous := r.selectTab(ctx, p, at)
	if at < 0 {
		if r.raiseByScript(ctx, p) {
			return
		}
		r.plan.Note = r.whyNoWindow(p)
		if tab {
			r.plan.Seen = true
			r.plan.Note = "its tab is selected, but its window can't be raised: " + r.plan.Note
		}
		return
	}
	terminal, _ := r.table.Find(p.chain()[at].PID)
	w, certain := chooseWindow(p, windows)
	if !certain {
		r.plan.Seen = tab
		r.plan.Note = fmt.Sprintf("%s has %d windows, and it is not known which of them shows it", terminal.Comm, len(windows))
		return
	}
	r.plan.Seen = true
	r.add(WindowStep, fmt.Sprintf("raise the window of %s (process %d)", terminal.Comm, terminal.PID), func(ctx context.Context) error {
		if now, err := r.table.Find(w.PID); err != nil || now.Identity != terminal.Identity {
			return errors.New("the terminal has ended")
		}
		return w.desktop.Raise(ctx, w.Window)
	})
	if !tab && !ambiguous {
		window := uint64(0)
		if w.desktop.Name() == desktop.X11 {
			window = p.Window
		}
		ambiguous, _ = r.hasTabs(ctx, p, terminal.PID, window, len(windows) > 1)
	}
	if !tab && ambiguous {
		r.plan.Note = "its window may have several tabs, and Rollcall can't select the one that shows it"
	}
}

// chooseWindow returns the window of a place among the windows of its terminal, and whether the choice is certain.
func chooseWindow(p *Place, windows []windowOn) (windowOn, bool) {
	if len(windows) == 1 {
		return windows[0], true
	}
	for _, w := range windows {
		if p.Window != 0 && w.ID == p.Window && w.desktop.Name() == desktop.X11 {
			return w, true
		}
	}
	return windowOn{}, false
}

const (
	noteBackground = "it runs in the background: no terminal shows it"
	noteGNOME      = "GNOME on Wayland does not let a program raise the window of another program"
)

// whyNoWindow returns why no window of a place is known.
func (r *request) whyNoWindow(p *Place) string {
	terminal, err := r.table.Terminal(p.Process)
	known := err == nil
	from, _, _ := strings.Cut(p.vars["SSH_CONNECTION"], " ")
	switch {
	case known && terminal == "":
		return noteBackground
	case strings.HasPrefix(terminal, "/dev/tty") && runtime.GOOS == "linux":
		number := strings.TrimPrefix(terminal, "/dev/tty")
		return fmt.Sprintf("it runs on the text console %s: press Ctrl+Alt+F%s", number, number)
	case from != "" && !strings.ContainsFunc(from, func(c rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF.:%", c) }):
		return "it runs in a login over SSH from " + from + ": its terminal is there"
	case r.failed != nil:
		return r.failed.Error()
	case len(r.desktops) == 0 && runtime.GOOS == "linux" && os.Getenv("WAYLAND_DISPLAY") == "":
		return "Rollcall runs outside of a desktop here: DISPLAY is not set"
	}
	return r.whyNotListed()
}

// whyNotListed returns why the desktop does not list the window of a place.
func (r *request) whyNotListed() string {
	if runtime.GOOS != "linux" || os.Getenv("WAYLAND_DISPLAY") == "" {
		return "no window of its terminal is known here"
	}
	named := strings.ToUpper(os.Getenv("XDG_CURRENT_DESKTOP"))
	switch {
	case strings.Contains(named, "GNOME"):
		return noteGNOME
	case len(r.desktops) == 0 || len(r.desktops) == 1 && r.desktops[0].Name() == desktop.X11:
		return "this Wayland desktop does not let a program raise the window of another program"
	}
	return "no window of its terminal is known here"
}
