// Package focus finds the window and the terminal's pane in which a process runs, whether the user looks at it, and how it
// can be shown.
//
// The programs and sockets that it asks have a time limit, run without a shell, and are not trusted: a process counts only with
// its start time, and a socket of a terminal only if package termclient accepts the process behind it. A process in a container or sandbox
// cannot be shown.
package focus

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rollcall/proc"
	"rollcall/proc/desktop"
)

// State is whether the user looks at the place of a process.
type State int

// The states.
const (
	Unknown State = iota // the focus can't be determined on this system
	Elsewhere
	Focused
)

// Place describes where a process runs: its ancestors and variables, from which its window is found. It stays valid when the process ends.
type Place struct {
	Process proc.Identity
	// SID is the session of the process. A process that a terminal shows is in the session of the program that the terminal started; an agent in the background
	// has its own session.
	SID int
	// Ancestors are the parent of the process, the parent's parent and so on, without the first process of the system.
	Ancestors []proc.Identity
	// Window is the X11 window that the environment of the process names; 0: none. It may be the window of another terminal.
	Window uint64
	// Tmux is the socket of the tmux server that the environment of the process names; empty: none. It counts only if the server is an ancestor.
	Tmux       string
	TmuxServer int // pid of that server
	// foreign is why the process is not in the boundary of this one (proc.CheckBoundary); nil: it is.
	foreign error
	// vars are the variables of the process that identify its terminal. They may be inherited from another terminal.
	vars map[string]string
}

// chain returns the process and its ancestors.
func (p *Place) chain() []proc.Identity { return append([]proc.Identity{p.Process}, p.Ancestors...) }

// has reports whether the process, or an ancestor, has this identity.
func (p *Place) has(id proc.Identity) bool { return slices.Contains(p.chain(), id) }

// isShownBy reports whether a terminal, or a multiplexer, shows the process: the process is in the session that a child of the terminal leads.
func (p *Place) isShownBy(terminal proc.Identity) bool {
	chain := p.chain()
	i := slices.Index(chain, terminal)
	return i > 0 && chain[i-1].PID == p.SID
}

// Table is what a Finder needs of the process table; *proc.Table implements it.
type Table interface {
	Find(pid int) (proc.Process, error)
	List(ctx context.Context) ([]proc.Process, error)
	Args(id proc.Identity) ([]string, error)
	Env(id proc.Identity) ([]string, error)
	Exe(id proc.Identity) (string, error)
	Terminal(id proc.Identity) (string, error)
	OpenTerminals(id proc.Identity) ([]string, error)
}

// Finder finds the places of processes. It is safe for concurrent use.
type Finder struct {
	table   Table
	desktop desktop.Desktop // reports which window has the focus; nil: that is not known here

	mu     sync.Mutex
	places map[proc.Identity]Place
}

// New returns a Finder. on may be nil.
func New(table Table, on desktop.Desktop) *Finder {
	return &Finder{table: table, desktop: on, places: map[proc.Identity]Place{}}
}

// Remember keeps the places of these processes, which must be all that a caller may ask about. It forgets the places of other
// processes only when it keeps many more places than there are ids: the place of a process that has just left the list may be
// needed for the notification of its end.
func (f *Finder) Remember(ids []proc.Identity) {
	now := map[proc.Identity]bool{}
	for _, id := range ids {
		if !id.IsZero() && !now[id] {
			now[id] = true
			_, _ = f.Place(id)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.places) <= 4*len(now)+32 {
		return
	}
	for id := range f.places {
		if !now[id] {
			delete(f.places, id)
		}
	}
}

// Place returns where a process runs, also after its end if its place was asked for before.
func (f *Finder) Place(id proc.Identity) (Place, bool) {
	f.mu.Lock()
	p, ok := f.places[id]
	f.mu.Unlock()
	if ok {
		return p, true
	}
	x, err := f.table.Find(id.PID)
	if err != nil || x.Identity != id {
		return Place{}, false
	}
	p = f.find(x)
	f.mu.Lock()
	f.places[id] = p
	f.mu.Unlock()
	return p, true
}

func (f *Finder) find(x proc.Process) Place {
	p := Place{Process: x.Identity, SID: x.SID, Ancestors: proc.Ancestors(f.table, x), foreign: proc.CheckBoundary(x.Identity)}
	env, _ := f.table.Env(x.Identity)
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if slices.Contains(placeVars, name) {
			if p.vars == nil {
				p.vars = map[string]string{}
			}
			p.vars[name] = value
		}
	}
	if id, err := strconv.ParseUint(p.vars["WINDOWID"], 10, 32); err == nil {
		p.Window = id
	}
	if parts := strings.Split(p.vars["TMUX"], ","); len(parts) >= 2 {
		p.Tmux = parts[0]
		p.TmuxServer, _ = strconv.Atoi(parts[1])
	}
	return p
}

// placeVars are the variables by which terminals and multiplexers name themselves to what they start.
var placeVars = []string{"WINDOWID", "TMUX", "STY", "WINDOW", "KITTY_PID", "KITTY_WINDOW_ID", "KITTY_LISTEN_ON", "WEZTERM_PANE", "WEZTERM_UNIX_SOCKET", zellijName, "SSH_CONNECTION"}

// HasFocus reports whether the user looks at the place of a process: its window has the focus, and inside tmux its pane
// is the active one there. It asks the desktop each time.
func (f *Finder) HasFocus(ctx context.Context, id proc.Identity) State {
	if f.desktop == nil || id.IsZero() {
		return Unknown
	}
	p, ok := f.Place(id)
	if !ok {
		return Unknown
	}
	active, ok, err := f.desktop.Active(ctx)
	switch {
	case err != nil:
		return Unknown
	case !ok:
		return Elsewhere
	}
	return f.shows(ctx, &p, active, 0)
}

// maxNested is how many tmux clients may be inside each other.
const maxNested = 4

// shows reports whether the active window shows a place.
func (f *Finder) shows(ctx context.Context, p *Place, active desktop.Window, nested int) State {
	if server, kind := f.multiplexer(p); kind == "tmux" && nested < maxNested {
		return f.showsPane(ctx, p, server, active, nested)
	}
	owner, err := f.table.Find(active.PID)
	switch {
	case err != nil || !p.has(owner.Identity):
		return Elsewhere
	case !p.isShownBy(owner.Identity):
		return Unknown
	}
	return f.ofSeveral(ctx, p, active)
}

// showsPane reports whether the active window is that of a tmux client whose active pane is the pane of a place.
func (f *Finder) showsPane(ctx context.Context, p *Place, server proc.Identity, active desktop.Window, nested int) State {
	if !p.isShownBy(server) { // the process left its pane
		return Elsewhere
	}
	socket, err := f.tmuxServer(ctx, p, server)
	if err != nil {
		return Unknown
	}
	pane, err := paneOf(ctx, p, socket)
	if err != nil {
		return Unknown
	}
	clients, err := f.tmuxClients(ctx, socket)
	if err != nil {
		return Unknown
	}
	state := Elsewhere
	for _, c := range clients {
		if pane != nil && c.pane == pane.id {
			client := f.find(c.process)
			state = max(state, f.shows(ctx, &client, active, nested+1))
		}
	}
	return state
}

// ofSeveral reports whether the active window is the window of a place, whose terminal may have several windows or tabs. Tabs of one window cannot be
// distinguished.
func (f *Finder) ofSeveral(ctx context.Context, p *Place, active desktop.Window) State {
	windows, err := f.desktop.Windows(ctx)
	if err != nil {
		return Unknown
	}
	windows = slices.DeleteFunc(windows, func(w desktop.Window) bool { return w.PID != active.PID })
	if len(windows) > 1 {
		switch {
		case !slices.ContainsFunc(windows, func(w desktop.Window) bool { return w.ID == p.Window }):
			return Unknown
		case p.Window != active.ID:
			return Elsewhere
		}
	}
	if tabs, err := f.hasTabs(ctx, p, active.PID, p.Window, len(windows) > 1); tabs || err != nil {
		return Unknown
	}
	return Focused
}

// hasTabs reports whether the window of a place may show something else: its terminal has another child that leads a session. window is the X11 window of the
// place, 0 if it is not known; several reports that the terminal has more than one window.
func (f *Finder) hasTabs(ctx context.Context, p *Place, terminal int, window uint64, several bool) (bool, error) {
	all, err := f.table.List(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(all, func(x proc.Process) bool {
		return x.PPID == terminal && !p.has(x.Identity) && f.isTab(x, window, several)
	}), nil
}

// isTab reports whether a child of a terminal may run in another tab of the same window.
func (f *Finder) isTab(x proc.Process, window uint64, several bool) bool {
	if x.SID != x.PID && runtime.GOOS != "windows" { // the program that a terminal starts leads a session
		return false
	}
	if runtime.GOOS == "windows" && (strings.EqualFold(x.Comm, "OpenConsole") || strings.EqualFold(x.Comm, "conhost")) {
		return false
	}
	other := f.find(x)
	return !several || window == 0 || other.Window == 0 || other.Window == window
}
