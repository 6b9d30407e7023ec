package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rollcall/app"
	"rollcall/app/present"
)

const (
	// progressAfter is how long a command may take before its progress is shown.
	progressAfter = 300 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// progress is one line on a terminal that shows how far a command is. It is removed before the result is printed.
type progress struct {
	streams Streams
	shown   string
}

func (p *progress) show(line string) {
	if p.streams.Width > 0 && line != p.shown {
		p.shown = line
		fmt.Fprint(p.streams.Err, "\r\x1b[K"+present.Cut(line, max(p.streams.Width-1, 10)))
	}
}

func (p *progress) hide() {
	if p.shown != "" {
		p.shown = ""
		fmt.Fprint(p.streams.Err, "\r\x1b[K")
	}
}

// refreshShown refreshes core. On a terminal it shows which agents have not answered yet, once that takes long.
func refreshShown(ctx context.Context, core *app.Core, streams Streams) *app.Snapshot {
	if streams.Width == 0 {
		return core.Refresh(ctx)
	}
	done := make(chan *app.Snapshot, 1)
	go func() { done <- core.Refresh(ctx) }()
	line := progress{streams: streams}
	defer line.hide()
	next := time.NewTimer(progressAfter)
	defer next.Stop()
	for {
		select {
		case snap := <-done:
			return snap
		case <-next.C:
			line.show(readingLine(core.Snapshot()))
			next.Reset(progressEvery)
		}
	}
}

// readingLine describes a snapshot that is not complete.
func readingLine(snap *app.Snapshot) string {
	var missing []string
	n := 0
	for _, h := range snap.Adapters {
		n += h.Sessions
		if h.State == app.Pending {
			missing = append(missing, present.AgentName(h.Name))
		}
	}
	line := "reading " + strings.Join(missing, ", ") + "…"
	if missing == nil {
		line = "reading…"
	}
	if n > 0 {
		line += " " + plural(n, "session") + " so far"
	}
	return line
}
