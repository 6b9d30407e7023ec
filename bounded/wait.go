package bounded

import (
	"context"
	"time"
)

// Wait returns nil after d, or earlier the error of ctx.
func Wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
