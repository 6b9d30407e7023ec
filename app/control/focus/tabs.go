package focus

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"rollcall/proc"
	"rollcall/proc/termclient"
)

// selectTab adds the step that selects the tab of a place, in a terminal that can be controlled from outside (kitty, WezTerm). It reports whether there is one,
// and whether the terminal has tabs that can't be selected. at is the place in the chain of the process that has windows; -1: none is known.
func (r *request) selectTab(ctx context.Context, p *Place, at int) (tab, ambiguous bool) {
	for _, t := range []func(context.Context, *Place) (proc.Identity, string, func(context.Context) error){r.inKitty, r.inWezTerm} {
		terminal, text, run := t(ctx, p)
		if terminal.IsZero() || at >= 0 && p.chain()[at] != terminal || at < 0 && !p.isShownBy(terminal) {
			continue
		}
		if run == nil {
			return false, true
		}
		r.add(TabStep, text, run)
		return true, false
	}
	return false, false
}

// ancestorAt returns the ancestor of a place that has a pid, or the zero Identity if there is none.
func (p *Place) ancestorAt(pid int) proc.Identity {
	for _, id := range p.Ancestors {
		if id.PID == pid {
			return id
		}
	}
	return proc.Identity{}
}

// inKitty returns the kitty that shows a place, and how its window (a pane, as kitty calls it) is selected; nil: its remote control is off. Kitty sets the
// variables in the programs that it starts (0.26 to 0.43).
func (r *request) inKitty(ctx context.Context, p *Place) (proc.Identity, string, func(context.Context) error) {
	pid, _ := strconv.Atoi(p.vars["KITTY_PID"])
	terminal := p.ancestorAt(pid)
	window, err := strconv.ParseUint(p.vars["KITTY_WINDOW_ID"], 10, 31)
	if terminal.IsZero() || err != nil {
		return proc.Identity{}, "", nil
	}
	socket, ok := strings.CutPrefix(p.vars["KITTY_LISTEN_ON"], "unix:")
	if !ok {
		return terminal, "", nil
	}
	server, err := termclient.Find(ctx, termclient.Kitty, socket, []proc.Identity{terminal})
	if err != nil {
		return terminal, "", nil
	}
	return terminal, fmt.Sprintf("select window %d of kitty", window), func(ctx context.Context) error {
		_, err := server.Run(ctx, termclient.KittyClient("focus-window", "--match", fmt.Sprintf("id:%d", window)))
		return err
	}
}

// inWezTerm returns the WezTerm that shows a place, and how its pane is selected. It was not run with WezTerm: the tests use a
// recorded conversation.
func (r *request) inWezTerm(ctx context.Context, p *Place) (proc.Identity, string, func(context.Context) error) {
	socket := p.vars["WEZTERM_UNIX_SOCKET"]
	pane, err := strconv.ParseUint(p.vars["WEZTERM_PANE"], 10, 31)
	if socket == "" || err != nil {
		return proc.Identity{}, "", nil
	}
	server, err := termclient.Find(ctx, termclient.WezTerm, socket, p.Ancestors)
	if err != nil {
		return proc.Identity{}, "", nil
	}
	return server.Process, fmt.Sprintf("select pane %d of WezTerm", pane), func(ctx context.Context) error {
		_, err := server.Run(ctx, termclient.Client{Program: "wezterm",
			Args: func(string) []string {
				return []string{"cli", "--no-auto-start", "activate-pane", "--pane-id", strconv.FormatUint(pane, 10)}
			},
			Env: func(socket string) []string { return []string{"WEZTERM_UNIX_SOCKET=" + socket} }})
		return err
	}
}
