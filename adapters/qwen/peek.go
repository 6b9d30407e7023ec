package qwen

import (
	"context"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek returns the last n messages of a session that Discover returned. It reads the file from its end.
func (a *Adapter) Peek(ctx context.Context, session adapters.Session, n int) ([]adapters.Message, error) {
	return kit.Peek(ctx, &session, n, func(path string) ([]adapters.Message, error) {
		p := &peek{session: session, n: n, results: map[string]adapters.ToolState{}}
		err := kit.LinesFromEnd(ctx, path, func(line []byte) bool {
			var list []record
			_, _ = agentfile.Records(line, parse, func(r *record) { list = append(list, *r) })
			for _, r := range slices.Backward(list) {
				p.record(&r)
			}
			return len(p.messages) < n
		})
		return p.messages, err
	})
}

// peek collects messages from the last to the first.
type peek struct {
	session   adapters.Session
	n         int
	messages  []adapters.Message
	results   map[string]adapters.ToolState // by the id of the call
	continued bool                          // there is a later turn
}

// record takes a record, from the last one on.
func (p *peek) record(r *record) {
	for _, m := range slices.Backward(r.messages(kit.Shown)) {
		state, over := p.results[m.call]
		switch {
		case m.Role == adapters.FromTool && m.State != adapters.ToolRunning: // a result
			p.results[m.call] = m.State
			continue
		case over:
			m.State = state
		case m.Role == adapters.FromTool:
			m.State = kit.StateWithoutResult(&p.session, &m.Message, p.continued)
		}
		if len(p.messages) < p.n {
			p.messages = append(p.messages, m.Message)
		}
	}
	p.continued = p.continued || string(agentfile.Text(r.typ)) == "user"
}
