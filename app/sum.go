package app

import (
	"context"
)

// sumAtOnce is how many sessions' tokens are asked for in one question, so that
// other questions don't wait long.
const sumAtOnce = 50

// sum asks for the exact tokens of what is listed, a few sessions at a time, in
// the order in which they are shown. While Run lists sessions for the first time
// it leaves tokens out, since for some agents they take reading every transcript
// as a whole; after that, adapters go on from what they have read.
func (c *Core) sum(ctx context.Context, s *source) {
	tried := map[string]bool{}
	for {
		ids := c.unsummed(s, tried)
		if len(ids) == 0 || ctx.Err() != nil {
			break
		}
		for _, id := range ids {
			tried[id] = true
		}
		c.ask(ctx, s, question{ids: ids, limit: c.cfg.Limit})
	}
	c.mu.Lock()
	s.summed = true
	c.mu.Unlock()
}

// unsummed are the next sessions whose tokens are not known.
func (c *Core) unsummed(s *source, tried map[string]bool) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []string
	for i := range s.public {
		x := &s.public[i]
		if x.Tokens != nil || tried[x.ID] {
			continue
		}
		if ids = append(ids, x.ID); len(ids) == sumAtOnce {
			break
		}
	}
	return ids
}

// summable says whether a question about all sessions may ask for exact tokens.
func (c *Core) summable(s *source) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.running || s.summed
}
