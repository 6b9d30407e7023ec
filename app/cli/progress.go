package cli

import (
	"context"
	"fmt"
	"time"

	"rollcall/app"
	"rollcall/app/present"
)

// progressEvery is how often progress is shown again, once present.ReadingAfter is over.
const progressEvery = 100 * time.Millisecond

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

// refreshWithProgress refreshes core. On a terminal it shows which agents have not answered yet, once that takes long.
func refreshWithProgress(ctx context.Context, core *app.Core, streams Streams) *app.Snapshot {
	if streams.Width == 0 {
		return core.Refresh(ctx)
	}
	done := make(chan *app.Snapshot, 1)
	go func() { done <- core.Refresh(ctx) }()
	line := progress{streams: streams}
	defer line.hide()
	next := time.NewTimer(present.ReadingAfter)
	defer next.Stop()
	for {
		select {
		case snap := <-done:
			return snap
		case <-next.C:
			line.show(present.Reading(core.Snapshot().Reading()))
			next.Reset(progressEvery)
		}
	}
}
