package focus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rollcall/app/present"
	"rollcall/proc"
	"rollcall/proc/termclient"
)

// tmuxPane is a pane with its session.
type tmuxPane struct {
	id, session string // "%3", "$0"
	name        string // of the session
}

// tmuxClient is a terminal that is attached to a tmux server.
type tmuxClient struct {
	process  proc.Process
	name     string // "/dev/pts/4"
	session  string // "$0"
	pane     string // the active one: "%3"
	activity int64
	control  bool // another program shows the panes (iTerm2)
}

// showInTmux adds the steps that show the pane of a place: they switch a client to the pane, and raise the client's window.
func (r *request) showInTmux(ctx context.Context, p *Place, server proc.Identity, nested int) {
	tmux, pane, clients, err := r.askTmux(ctx, p, server)
	switch {
	case err != nil:
		r.plan.Note = "it runs in tmux, which can't be asked: " + err.Error()
		return
	case pane == nil:
		r.plan.Note = "tmux no longer knows the pane in which it runs"
		return
	case r.isDetached(p, slices.Index(p.chain(), server)):
		r.plan.Note = noteBackground
		return
	}
	if len(clients) == 0 {
		r.plan.Attach = attachTmux(p.Tmux, pane)
		r.plan.Note = "it runs in tmux, and no terminal is attached to it"
		r.add(PaneStep, "select pane "+pane.id+" of tmux session "+pane.name, func(ctx context.Context) error {
			_, err := tmuxLines(ctx, tmux, "select-window", "-t", pane.id, ";", "select-pane", "-t", pane.id)
			return err
		})
		return
	}
	// A client that shows the right session already is better than the one that was used last.
	c := clients[max(0, slices.IndexFunc(clients, func(x tmuxClient) bool { return x.session == pane.session }))]
	r.add(PaneStep, fmt.Sprintf("select pane %s of tmux session %s on %s", pane.id, pane.name, c.name), func(ctx context.Context) error {
		return r.switchTo(ctx, tmux, &c, pane)
	})
	place := r.find(c.process)
	r.show(ctx, &place, nested+1)
	if !r.plan.Seen { // the pane is selected where the user is attached
		r.plan.Seen = true
		r.plan.Note = fmt.Sprintf("its pane is selected on %s; that terminal can't be raised: %s", c.name, r.plan.Note)
	}
}

// askTmux returns the server of a place, the pane that it runs in, and the server's clients. The pane is nil if the server does not know it.
func (r *request) askTmux(ctx context.Context, p *Place, server proc.Identity) (tmux *termclient.Server, pane *tmuxPane, clients []tmuxClient, err error) {
	tmux, err = r.tmuxServer(ctx, p, server)
	if err != nil {
		return nil, nil, nil, err
	}
	pane, err = paneOf(ctx, p, tmux)
	if err != nil || pane == nil {
		return nil, nil, nil, err
	}
	clients, err = r.tmuxClients(ctx, tmux)
	return tmux, pane, clients, err
}

// switchTo selects a pane on a client, and returns an error if tmux did not.
func (r *request) switchTo(ctx context.Context, tmux *termclient.Server, c *tmuxClient, pane *tmuxPane) error {
	_, err := tmuxLines(ctx, tmux, "switch-client", "-c", c.name, "-t", pane.id, ";", "select-window", "-t", pane.id, ";", "select-pane", "-t", pane.id)
	if err != nil {
		return err
	}
	now, err := r.tmuxClients(ctx, tmux)
	if err == nil && !slices.ContainsFunc(now, func(x tmuxClient) bool { return x.name == c.name && x.pane == pane.id }) {
		err = errors.New("tmux did not select the pane")
	}
	return err
}

// attachTmux returns the command that attaches a terminal to the session of a pane.
func attachTmux(socket string, pane *tmuxPane) []string {
	argv := []string{"tmux"}
	if filepath.Base(socket) != "default" || !strings.HasPrefix(filepath.Base(filepath.Dir(socket)), "tmux-") {
		argv = append(argv, "-S", socket)
	}
	return append(argv, "attach-session", "-t", pane.session)
}

// tmuxServer returns the server that is an ancestor of a place, if it may be asked.
func (f *Finder) tmuxServer(ctx context.Context, p *Place, server proc.Identity) (*termclient.Server, error) {
	if p.foreign != nil {
		return nil, fmt.Errorf("it %w", p.foreign)
	}
	return termclient.Find(ctx, termclient.Tmux, p.Tmux, []proc.Identity{server})
}

// paneOf returns the pane of a place: the one whose program is the ancestor directly below the server. It returns nil if
// there is none.
func paneOf(ctx context.Context, p *Place, server *termclient.Server) (*tmuxPane, error) {
	chain := p.chain()
	program := chain[slices.Index(chain, server.Process)-1].PID
	lines, err := tmuxLines(ctx, server, "list-panes", "-a", "-F", "#{pid} #{pane_pid} #{pane_id} #{session_id} #{session_name}")
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		if len(l) < 5 || l[0] != strconv.Itoa(server.Process.PID) || l[1] != strconv.Itoa(program) {
			continue
		}
		if isTmuxID(l[2], '%') && isTmuxID(l[3], '$') {
			return &tmuxPane{id: l[2], session: l[3], name: printable(strings.Join(l[4:], " "))}, nil
		}
	}
	return nil, nil
}

// printable returns a name as one safe line of at most 60 cells.
func printable(name string) string { return present.Cut(present.Line(name), 60) }

// isTmuxID reports whether a word is an id of tmux.
func isTmuxID(word string, kind byte) bool {
	if len(word) < 2 || word[0] != kind {
		return false
	}
	_, err := strconv.ParseUint(word[1:], 10, 31)
	return err == nil
}

// tmuxClients returns the clients of a server, the one that was used last first. Those that another program shows come last.
func (f *Finder) tmuxClients(ctx context.Context, server *termclient.Server) (list []tmuxClient, err error) {
	lines, err := tmuxLines(ctx, server, "list-clients", "-F", "#{client_pid} #{client_activity} #{client_control_mode} #{session_id} #{pane_id} #{client_name}")
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		if len(l) != 6 || !isTmuxID(l[3], '$') || strings.HasPrefix(l[5], "-") {
			continue
		}
		pid, _ := strconv.Atoi(l[0])
		activity, _ := strconv.ParseInt(l[1], 10, 64)
		x, err := f.table.Find(pid)
		if err != nil {
			continue
		}
		list = append(list, tmuxClient{process: x, name: printable(l[5]), session: l[3], pane: l[4], activity: activity, control: l[2] == "1"})
	}
	slices.SortStableFunc(list, func(a, b tmuxClient) int {
		if a.control != b.control {
			if a.control {
				return 1
			}
			return -1
		}
		return cmp.Compare(b.activity, a.activity)
	})
	return list, nil
}

// tmuxLines runs commands of tmux, separated by ";", which start no server, and returns the fields of each line.
func tmuxLines(ctx context.Context, server *termclient.Server, args ...string) (lines [][]string, err error) {
	out, err := server.Run(ctx, termclient.Client{Program: "tmux", Args: func(socket string) []string {
		return append([]string{"-N", "-S", socket}, args...)
	}})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.Fields(line))
	}
	return lines, nil
}
