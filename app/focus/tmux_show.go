package focus

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rollcall/proc"
	"rollcall/proc/localsocket"
)

// tmuxPane is a pane with its window and session.
type tmuxPane struct {
	id, window, session string // "%3", "@1", "$0"
	name                string // of the session
}

// tmuxClient is a terminal that is attached to a tmux server.
type tmuxClient struct {
	process  proc.Identity
	name     string // "/dev/pts/4"
	session  string // "$0"
	activity int64
	control  bool // another program shows the panes (iTerm2)
}

// showInTmux adds what shows the pane of a place: a client is switched to the pane, and its window is raised.
func (r *request) showInTmux(ctx context.Context, p *Place, server proc.Identity, nested int) {
	if err := localsocket.Check(p.Tmux); err != nil {
		r.plan.Note = "it runs in tmux, whose socket can't be used: " + err.Error()
		return
	}
	pane, err := r.paneOf(ctx, p, server)
	if err != nil {
		r.plan.Note = "it runs in tmux, which does not answer: " + err.Error()
		return
	}
	if pane == nil {
		r.plan.Note = "tmux no longer knows the pane in which it runs"
		return
	}
	if r.isDetached(p, slices.Index(p.chain(), server)) {
		r.plan.Note = noteBackground
		return
	}
	clients, err := r.tmuxClients(ctx, p)
	if err != nil {
		r.plan.Note = "it runs in tmux, which does not answer: " + err.Error()
		return
	}
	socket := p.Tmux
	if len(clients) == 0 {
		r.plan.Attach = attachTmux(socket, pane)
		r.plan.Note = "it runs in tmux, and no terminal is attached to it"
		r.add(PaneStep, "select pane "+pane.id+" of tmux session "+pane.name, func(ctx context.Context) error {
			return r.tmuxDo(ctx, socket, server, "select-window", "-t", pane.id, ";", "select-pane", "-t", pane.id)
		})
		return
	}
	c := clients[0]
	for _, other := range clients {
		if other.session == pane.session { // it shows the right session already
			c = other
			break
		}
	}
	r.add(PaneStep, fmt.Sprintf("select pane %s of tmux session %s on %s", pane.id, pane.name, c.name), func(ctx context.Context) error {
		err := r.tmuxDo(ctx, socket, server, "switch-client", "-c", c.name, "-t", pane.id, ";", "select-window", "-t", pane.id, ";", "select-pane", "-t", pane.id)
		if err != nil {
			return err
		}
		return r.checkClient(ctx, socket, c, pane)
	})
	x, err := r.table.Find(c.process.PID)
	if err != nil || x.Identity != c.process {
		r.plan.Note = "the terminal that was attached to tmux has ended"
		return
	}
	place := r.find(x)
	r.show(ctx, &place, nested+1)
	if !r.plan.Seen { // the pane is selected where the user is attached
		r.plan.Seen = true
		r.plan.Note = fmt.Sprintf("its pane is selected on %s; that terminal can't be raised: %s", c.name, r.plan.Note)
	}
}

// checkClient returns an error unless a client shows a pane.
func (r *request) checkClient(ctx context.Context, socket string, c tmuxClient, pane *tmuxPane) error {
	lines, err := r.tmuxLines(ctx, socket, "list-clients", "-F", "#{client_name} #{pane_id}")
	if err != nil {
		return err
	}
	for _, f := range lines {
		if len(f) == 2 && f[0] == c.name && f[1] == pane.id {
			return nil
		}
	}
	return errors.New("tmux did not select the pane")
}

// attachTmux returns the command that attaches a terminal to the session of a pane.
func attachTmux(socket string, pane *tmuxPane) []string {
	argv := []string{"tmux"}
	if filepath.Base(socket) != "default" || !strings.HasPrefix(filepath.Base(filepath.Dir(socket)), "tmux-") {
		argv = append(argv, "-S", socket)
	}
	return append(argv, "attach-session", "-t", pane.session)
}

// paneOf returns the pane of a place: the one whose program is the ancestor right below the server. nil: there is none.
func (r *request) paneOf(ctx context.Context, p *Place, server proc.Identity) (*tmuxPane, error) {
	chain := p.chain()
	program := chain[slices.Index(chain, server)-1].PID
	lines, err := r.tmuxLines(ctx, p.Tmux, "list-panes", "-a", "-F", "#{pid} #{pane_pid} #{pane_id} #{window_id} #{session_id} #{session_name}")
	if err != nil {
		return nil, err
	}
	for _, f := range lines {
		if len(f) < 6 || f[0] != strconv.Itoa(server.PID) || f[1] != strconv.Itoa(program) { // another server may have taken the socket
			continue
		}
		if isTmuxID(f[2], '%') && isTmuxID(f[3], '@') && isTmuxID(f[4], '$') {
			return &tmuxPane{id: f[2], window: f[3], session: f[4], name: printable(strings.Join(f[5:], " "))}, nil
		}
	}
	return nil, nil
}

// printable returns a name of at most 60 characters without those that a terminal may obey.
func printable(name string) string {
	name = strings.Map(func(c rune) rune {
		if strconv.IsPrint(c) {
			return c
		}
		return '?'
	}, strings.ToValidUTF8(name, "?"))
	if runes := []rune(name); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return name
}

// isTmuxID reports whether a word is an id of tmux.
func isTmuxID(word string, kind byte) bool {
	if len(word) < 2 || word[0] != kind {
		return false
	}
	_, err := strconv.ParseUint(word[1:], 10, 31)
	return err == nil
}

// tmuxClients returns the clients of a server, the one that was used last first. Those that another program shows come last.
func (r *request) tmuxClients(ctx context.Context, p *Place) (list []tmuxClient, err error) {
	lines, err := r.tmuxLines(ctx, p.Tmux, "list-clients", "-F", "#{client_pid} #{client_activity} #{client_control_mode} #{session_id} #{client_name}")
	if err != nil {
		return nil, err
	}
	for _, f := range lines {
		if len(f) != 5 || !isTmuxID(f[3], '$') || strings.HasPrefix(f[4], "-") {
			continue
		}
		pid, _ := strconv.Atoi(f[0])
		activity, _ := strconv.ParseInt(f[1], 10, 64)
		x, err := r.table.Find(pid)
		if err != nil {
			continue
		}
		list = append(list, tmuxClient{process: x.Identity, name: printable(f[4]), session: f[3], activity: activity, control: f[2] == "1"})
	}
	slices.SortStableFunc(list, func(a, b tmuxClient) int {
		switch {
		case a.control != b.control && a.control:
			return 1
		case a.control != b.control:
			return -1
		}
		return int(min(max(b.activity-a.activity, -1), 1))
	})
	return list, nil
}

// tmuxDo runs commands of tmux, separated by ";", if the server of a socket is still the same.
func (r *request) tmuxDo(ctx context.Context, socket string, server proc.Identity, args ...string) error {
	if now, err := r.table.Find(server.PID); err != nil || now.Identity != server {
		return errors.New("that tmux server has ended")
	}
	if err := localsocket.Check(socket); err != nil {
		return err
	}
	_, err := r.tmuxLines(ctx, socket, args...)
	return err
}

// tmuxLines runs tmux, which starts no server, and returns the fields of each line.
func (f *Finder) tmuxLines(ctx context.Context, socket string, args ...string) (lines [][]string, err error) {
	out, err := f.run(ctx, nil, "tmux", append([]string{"-N", "-S", socket}, args...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.Fields(line))
	}
	return lines, nil
}
