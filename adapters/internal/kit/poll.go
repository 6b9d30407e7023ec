package kit

import (
	"context"
	"sync/atomic"
	"time"
)

// Poll asks again for what no file shows. It implements adapters.Pusher for an adapter that embeds it. It is safe for concurrent use.
type Poll struct {
	again atomic.Bool
}

// pollPause is the time between two looks.
const pollPause = 2 * time.Second

// Again sets whether the last answer may change although no file does.
func (p *Poll) Again(again bool) { p.again.Store(again) }

// Push implements adapters.Pusher.
func (p *Poll) Push(ctx context.Context, changed func()) {
	ticker := time.NewTicker(pollPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if p.again.Load() {
				changed()
			}
		}
	}
}
