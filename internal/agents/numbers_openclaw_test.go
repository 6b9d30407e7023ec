//go:build agents && linux

package agents

import (
	"fmt"
	"time"
)

// openClawNumbers returns the walk of OpenClaw: all of it is done by one gateway.
func openClawNumbers() numbered {
	var g *Gateway
	send := func(w *walk, c *talk, prompt string) {
		w.mark(c)
		g.Send(c.id, w.prompt(prompt))
		over(g, c.id)
	}
	begin := func(w *walk) *talk {
		return &talk{id: fmt.Sprintf("agent:main:w%d", len(w.talks)), folder: w.Project, model: mockModel}
	}
	say := func(name, prompt string) act {
		return act{name, func(w *walk) *talk {
			c := w.known()
			if c == nil || w.rng.IntN(4) == 0 {
				c = begin(w)
			}
			send(w, c, prompt)
			return c
		}}
	}
	return numbered{release: OpenClawNewest, folder: ".openclaw", silent: true, keyed: true, late: time.Minute, models: []string{mockModel}, unstored: []unstored{titles},
		acts: []act{
			{"a new conversation", func(w *walk) *talk {
				c := begin(w)
				send(w, c, "one")
				return c
			}},
			say("a further turn", "more"), say("a tool", "run [[bash true]]"), say("a failed answer", "fail [[fail 400]]"),
			goes("an interrupted answer", func(w *walk, c *talk) {
				w.mark(c)
				g.Send(c.id, w.prompt("wait [[delay 60]]"))
				g.call("chat.abort", map[string]any{"sessionKey": c.id})
				over(g, c.id)
			}),
			goes("a compaction", func(w *walk, c *talk) {
				w.mark(c)
				w.last = string(g.call("sessions.compact", map[string]any{"key": c.id}))
			}),
		},
		prepare: func(w *walk) {
			g = w.StartGateway(OpenClawNewest)
			w.mark(&talk{folder: w.Project})
		}}
}
