package pane

import (
	"context"
	"slices"
	"time"

	"rollcall/adapters/internal/kit"
	"rollcall/proc"
	"rollcall/proc/desktop"
)

// windowLimit is how long a desktop may take to list its windows.
const windowLimit = time.Second

// inWindow returns the title of the window that shows the terminal of a process and nothing else: the nearest ancestor that has windows has one, it started the
// leader of the process's session, and it has no other terminal below it. A window with tabs, or several windows of one program, say nothing of one process.
func (a *asker) inWindow(env []string, x proc.Process, ancestors []proc.Identity) (Title, bool) {
	for _, on := range desktop.Named(a.ctx, func(name string) string { return kit.Get(env, name) }) {
		for i, id := range ancestors {
			var own []desktop.Window
			for _, w := range a.windowsOf(on) {
				if w.PID == id.PID {
					own = append(own, w)
				}
			}
			if len(own) == 0 {
				continue
			}
			alone := len(own) == 1 && a.isOnlyTerminal(id, x, append([]proc.Identity{x.Identity}, ancestors...)[i])
			return Title{Text: own[0].Title}, alone
		}
	}
	return Title{}, false
}

// isOnlyTerminal reports whether a terminal's child leads the session of a process and no other child of the terminal leads one.
func (a *asker) isOnlyTerminal(terminal proc.Identity, of proc.Process, child proc.Identity) bool {
	now, err := a.table.Find(terminal.PID)
	if err != nil || now.Identity != terminal || child.PID != of.SID {
		return false
	}
	all, err := a.table.List(a.ctx)
	isOther := func(x proc.Process) bool { return x.PPID == terminal.PID && x.SID == x.PID && x.Identity != child }
	return err == nil && !slices.ContainsFunc(all, isOther)
}

// windowsOf returns the windows of a desktop, which is asked once.
func (a *asker) windowsOf(on desktop.Desktop) []desktop.Window {
	list, known := a.windows[on]
	if !known {
		ctx, cancel := context.WithTimeout(a.ctx, windowLimit)
		defer cancel()
		list, _ = on.Windows(ctx) // what can't be asked has no titles
		a.windows[on] = list
	}
	return list
}
