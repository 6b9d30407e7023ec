//go:build !headless

package desktop

import (
	"context"
	"sync/atomic"
	"time"

	"rollcall/app/self/executable"
)

// lookForUpdate is the interval at which the tray checks whether its program was replaced. One check reads the attributes
// of one file.
const lookForUpdate = 30 * time.Second

// update notices that a package manager replaced the program of the running tray.
type update struct {
	program  executable.File
	replaced chan struct{} // closed when the program was replaced
	wanted   atomic.Bool   // the user asked for the restart
}

func newUpdate() *update {
	return &update{program: executable.Running(), replaced: make(chan struct{})}
}

// watch closes replaced and returns when the program was replaced. It also returns when ctx is done.
func (u *update) watch(ctx context.Context) {
	ticker := time.NewTicker(lookForUpdate)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if u.program.Replaced() {
			close(u.replaced)
			return
		}
	}
}
