package pane

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rollcall/adapters/internal/kit"
	"rollcall/proc"
	"rollcall/proc/desktop"
	"rollcall/proc/termclient"
)

// Title is what the pane of a terminal says of the program in it.
type Title struct {
	Text  string // as the program set it last
	Shows bool   // the pane shows the text that was asked for; kitty and desktops do not say
}

// plainText matches the texts that Titles looks for: tmux's own signs have a meaning in a format.
var plainText = regexp.MustCompile(`^[0-9A-Za-z ]{1,40}$`)

// Titles returns the titles of the panes in which processes run, under the conditions of Find, and else those of the windows that show them alone. A process
// of which neither can be asked is left out. Each terminal's server and each desktop is asked once. In tmux, Title.Shows reports whether a line of the pane
// has the text, which must be one of plainText.
func Titles(ctx context.Context, table proc.Lister, text string, ids []proc.Identity) map[proc.Identity]Title {
	a := asker{ctx: ctx, table: table, text: text, tmux: map[proc.Identity]map[string]tmuxTitle{}, kitty: map[proc.Identity]map[uint64]string{},
		windows: map[desktop.Desktop][]desktop.Window{}}
	titles := map[proc.Identity]Title{}
	for _, id := range ids {
		if title, ok := a.title(id); ok {
			titles[id] = title
		}
	}
	return titles
}

// asker holds what the servers of terminals answered, by their processes.
type asker struct {
	ctx   context.Context
	table proc.Lister
	text  string
	tmux  map[proc.Identity]map[string]tmuxTitle
	kitty map[proc.Identity]map[uint64]string
	// windows are those of the desktops.
	windows map[desktop.Desktop][]desktop.Window
}

func (a *asker) title(id proc.Identity) (Title, bool) {
	env, err := a.table.Env(id)
	isSet := func(name string) bool { return kit.Get(env, name) != "" }
	if err != nil || !slices.ContainsFunc(namesOfPlaces, isSet) || proc.CheckBoundary(id) != nil {
		return Title{}, false
	}
	x, err := a.table.Find(id.PID)
	if err != nil || x.Identity != id || x.Suspended { // another process in its terminal may have set the title since
		return Title{}, false
	}
	ancestors := proc.Ancestors(a.table, x)
	if k, err := findKitty(a.ctx, env, ancestors); err == nil {
		if _, asked := a.kitty[k.server.Process]; !asked {
			a.kitty[k.server.Process] = kittyTitles(a.ctx, k.server)
		}
		title, ok := a.kitty[k.server.Process][k.id]
		return Title{Text: title}, ok
	}
	if title, ok := a.inTmux(env, x, ancestors); ok {
		return title, true
	}
	return a.inWindow(env, x, ancestors)
}

// namesOfPlaces are the variables without which a process is in no terminal that can be asked.
var namesOfPlaces = []string{"TMUX", "KITTY_PID", "DISPLAY", "SWAYSOCK", "HYPRLAND_INSTANCE_SIGNATURE"}

// inTmux returns the title of the pane of tmux that the environment of a process names.
func (a *asker) inTmux(env []string, x proc.Process, ancestors []proc.Identity) (Title, bool) {
	socket, _, _ := strings.Cut(kit.Get(env, "TMUX"), ",")
	if socket == "" {
		return Title{}, false
	}
	server, err := termclient.Find(a.ctx, termclient.Tmux, socket, ancestors)
	if err != nil {
		return Title{}, false
	}
	if _, asked := a.tmux[server.Process]; !asked {
		a.tmux[server.Process] = tmuxTitles(a.ctx, server, a.text)
	}
	t, ok := a.tmux[server.Process][kit.Get(env, "TMUX_PANE")]
	if tty, err := a.table.Terminal(x.Identity); err != nil || tty != t.tty { // a terminal within the pane has titles of its own
		return Title{}, false
	}
	// The variables of a process alone prove nothing: see findTmux.
	return t.Title, ok && (x.PID == t.pid || slices.ContainsFunc(ancestors, func(of proc.Identity) bool { return of.PID == t.pid }))
}

type tmuxTitle struct {
	Title
	tty string
	pid int // of the program that the pane was opened with
}

// tmuxTitles returns the titles of all panes of a server.
func tmuxTitles(ctx context.Context, server *termclient.Server, text string) map[string]tmuxTitle {
	shows := "0"
	if plainText.MatchString(text) {
		shows = "#{C:" + text + "}"
	}
	p := &tmuxPane{server: server}
	out, err := p.run(ctx, "list-panes", "-a", "-F", "#{pane_id} #{pane_pid} #{pane_tty} "+shows+" #{pane_title}")
	titles := map[string]tmuxTitle{}
	if err != nil {
		return titles
	}
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), " ", 5)
		if len(fields) < 5 {
			continue
		}
		if pid, err := strconv.Atoi(fields[1]); err == nil {
			titles[fields[0]] = tmuxTitle{Title{fields[4], fields[3] != "0"}, fields[2], pid}
		}
	}
	return titles
}

// kittyTitles returns the titles of all windows of a kitty.
func kittyTitles(ctx context.Context, server *termclient.Server) map[uint64]string {
	titles := map[uint64]string{}
	out, err := ask(ctx, server, termclient.KittyClient("ls"))
	var systems []struct {
		Tabs []struct {
			Windows []struct {
				ID    uint64 `json:"id"`
				Title string `json:"title"`
			} `json:"windows"`
		} `json:"tabs"`
	}
	if err != nil || json.Unmarshal(out, &systems) != nil {
		return titles
	}
	for _, system := range systems {
		for _, tab := range system.Tabs {
			for _, w := range tab.Windows {
				titles[w.ID] = w.Title
			}
		}
	}
	return titles
}
