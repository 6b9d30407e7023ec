package focus

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"rollcall/proc"
)

// clientsOf returns the pids of the tmux clients that show the pane of a place: those whose active pane it is.
func clientsOf(ctx context.Context, p *Place, server proc.Identity) ([]int, error) {
	if !filepath.IsAbs(p.Tmux) {
		return nil, errors.New(p.Tmux + " is no absolute path")
	}
	info, err := os.Lstat(p.Tmux)
	if err != nil {
		return nil, err
	}
	if info.Mode()&os.ModeSocket == 0 {
		return nil, errors.New(p.Tmux + " is no socket")
	}
	panes, err := tmux(ctx, p.Tmux, "list-panes", "-a", "-F", "#{pid} #{pane_id} #{pane_pid}")
	if err != nil {
		return nil, err
	}
	pane := ""
	for _, f := range panes {
		if len(f) != 3 || f[0] != strconv.Itoa(server.PID) { // another server has taken the socket
			continue
		}
		if f[2] == strconv.Itoa(p.SID) { // what tmux starts in a pane leads a session
			pane = f[1]
		}
	}
	if pane == "" {
		return nil, nil
	}
	clients, err := tmux(ctx, p.Tmux, "list-clients", "-F", "#{client_pid} #{pane_id}")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, f := range clients {
		if len(f) == 2 && f[1] == pane {
			if pid, err := strconv.Atoi(f[0]); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids, nil
}

// tmux runs a command of tmux that changes nothing, and returns the fields of each line.
func tmux(ctx context.Context, socket string, args ...string) (lines [][]string, err error) {
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-N", "-S", socket}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.Fields(line))
	}
	return lines, nil
}
