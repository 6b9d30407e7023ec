package qwen

import (
	"context"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek returns the last n messages of a session that Discover returned. It reads the file from its end.
func (a *Adapter) Peek(ctx context.Context, session adapters.Session, n int) ([]adapters.Message, error) {
	return kit.PeekLines(ctx, &session, n, func(line []byte, limit kit.Limit) (items []kit.Item) {
		_, _ = agentfile.Records(line, parse, func(r *record) { items = append(items, r.messages(limit)...) })
		return items
	})
}
