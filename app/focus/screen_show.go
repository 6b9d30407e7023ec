package focus

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rollcall/proc"
)

// screenSession matches the name of a session of GNU screen, as STY has it: "4711.pts-3.host".
var screenSession = regexp.MustCompile(`^([0-9]{1,10})\.[A-Za-z0-9._-]{1,80}$`)

// screenServer returns the pid of the server of a session of screen; 0: the name is none.
func screenServer(session string) int {
	m := screenSession.FindStringSubmatch(session)
	if m == nil {
		return 0
	}
	pid, _ := strconv.Atoi(m[1])
	return pid
}

// showInScreen adds what shows the window of screen in which a place is (screen 4.9).
func (r *request) showInScreen(ctx context.Context, p *Place, server proc.Identity, nested int) {
	session, window := p.vars["STY"], p.vars["WINDOW"]
	if _, err := strconv.ParseUint(window, 10, 16); err != nil {
		window = ""
	}
	if r.isDetached(p, slices.Index(p.chain(), server)) {
		r.plan.Note = noteBackground
		return
	}
	if window != "" {
		r.add(PaneStep, "select window "+window+" of screen "+session, func(ctx context.Context) error {
			if now, err := r.table.Find(server.PID); err != nil || now.Identity != server {
				return errors.New("that screen has ended")
			}
			_, err := r.run(ctx, nil, "screen", "-S", session, "-X", "select", window)
			return err
		})
	}
	client, terminal := r.screenClient(ctx, server)
	if client.IsZero() {
		r.plan.Note = "it runs in screen, and no terminal is attached to it"
		r.plan.Attach = []string{"screen", "-r", session}
		return
	}
	x, err := r.table.Find(client.PID)
	if err != nil || x.Identity != client {
		r.plan.Note = "the terminal that was attached to screen has ended"
		return
	}
	place := r.find(x)
	r.show(ctx, &place, nested+1)
	if !r.plan.Seen && window != "" {
		r.plan.Seen = true
		r.plan.Note = fmt.Sprintf("its window is selected in screen on %s; that terminal can't be raised: %s", terminal, r.plan.Note)
	}
}

// screenClient returns the process that shows a screen in a terminal, and that terminal. The server has open the terminals of
// those that are attached.
func (r *request) screenClient(ctx context.Context, server proc.Identity) (proc.Identity, string) {
	shown, err := r.table.OpenTerminals(server)
	if err != nil {
		return proc.Identity{}, ""
	}
	all, err := r.table.List(ctx)
	if err != nil && len(all) == 0 {
		return proc.Identity{}, ""
	}
	var found proc.Process
	for _, x := range all {
		if x.Identity == server || !strings.EqualFold(x.Comm, "screen") || x.Started.Before(found.Started) {
			continue
		}
		if terminal, err := r.table.Terminal(x.Identity); err == nil && terminal != "" && slices.Contains(shown, terminal) {
			found = x
		}
	}
	terminal := ""
	if !found.IsZero() {
		terminal, _ = r.table.Terminal(found.Identity)
	}
	return found.Identity, terminal
}
