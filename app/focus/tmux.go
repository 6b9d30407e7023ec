package focus

import (
	"context"
	"strconv"

	"rollcall/proc"
	"rollcall/proc/localsocket"
)

// clientsOf returns the pids of the tmux clients that show the pane of a place: those whose active pane it is.
func (f *Finder) clientsOf(ctx context.Context, p *Place, server proc.Identity) ([]int, error) {
	if err := localsocket.Check(p.Tmux); err != nil {
		return nil, err
	}
	panes, err := f.tmuxLines(ctx, p.Tmux, "list-panes", "-a", "-F", "#{pid} #{pane_id} #{pane_pid}")
	if err != nil {
		return nil, err
	}
	pane := ""
	for _, line := range panes {
		if len(line) != 3 || line[0] != strconv.Itoa(server.PID) { // another server has taken the socket
			continue
		}
		if line[2] == strconv.Itoa(p.SID) { // what tmux starts in a pane leads a session
			pane = line[1]
		}
	}
	if pane == "" {
		return nil, nil
	}
	clients, err := f.tmuxLines(ctx, p.Tmux, "list-clients", "-F", "#{client_pid} #{pane_id}")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, line := range clients {
		if len(line) == 2 && line[1] == pane {
			if pid, err := strconv.Atoi(line[0]); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids, nil
}
