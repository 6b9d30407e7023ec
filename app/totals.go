package app

import "context"

// totalsPerQuestion is the number of sessions whose tokens are asked for in one question, so that
// other questions don't wait long.
const totalsPerQuestion = 50

// addTotals asks for the exact tokens of the listed sessions, a few sessions at a time, in
// the order in which they are shown. The first refresh of Run leaves tokens out, since
// for some agents every transcript must be read as a whole for them. After that, adapters
// read only what was added.
func (c *Core) addTotals(ctx context.Context, s *source) {
	tried := map[string]bool{}
	for {
		ids := c.sessionsWithoutTotals(s, tried)
		if len(ids) == 0 || ctx.Err() != nil {
			break
		}
		for _, id := range ids {
			tried[id] = true
		}
		c.ask(ctx, s, question{ids: ids, limit: c.cfg.Limit})
	}
	c.mu.Lock()
	s.totalsKnown = true
	c.mu.Unlock()
}

// sessionsWithoutTotals returns the ids of the next sessions whose tokens are not known.
func (c *Core) sessionsWithoutTotals(s *source, tried map[string]bool) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []string
	for i := range s.public {
		x := &s.public[i]
		if x.Tokens != nil || tried[x.ID] || x.IsProcess() {
			continue
		}
		if ids = append(ids, x.ID); len(ids) == totalsPerQuestion {
			break
		}
	}
	return ids
}

// canAskTotals reports whether a question about all sessions may ask for exact tokens.
func (c *Core) canAskTotals(s *source) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.running || s.totalsKnown
}
