package cli

import "time"

const (
	// endGrace is the time that an interrupted command has to end by itself: a read from a file system that does not
	// answer never returns.
	endGrace = 300 * time.Millisecond
	// undoGrace is the same time for a command that undoes unfinished changes.
	undoGrace = 90 * time.Second
)

// undoing lists the commands that undo unfinished changes, or end their parts in a certain order.
var undoing = []string{"rollcall", "rollcall window", "rollcall keep", "rollcall launch", "rollcall resume", "rollcall worktree clean", "rollcall prune"}

// leaveWhenInterrupted ends the program when the command does not end soon after
// its context. The caller calls stop once the command has returned.
func (e *env) leaveWhenInterrupted() (stop func()) {
	if e.deps.Leave == nil {
		return func() {}
	}
	returned := make(chan struct{})
	go func() {
		select {
		case <-returned:
			return
		case <-e.ctx.Done():
		}
		grace := endGrace
		if e.undoes.Load() {
			grace = undoGrace
		}
		select {
		case <-returned:
		case <-time.After(grace):
			e.deps.Leave(Interrupted)
		}
	}()
	return func() { close(returned) }
}
