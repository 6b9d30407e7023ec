package openclaw

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
)

const (
	previewKeys  = 30   // sessions per question
	previewItems = 20   // messages of each
	previewChars = 1000 // of each message
	previewLimit = time.Second
)

// prompts caches the first and the last prompt of each session. The first never
// changes; the last is kept with the row's time of change.
type prompts struct {
	mu   sync.Mutex
	said map[place]prompt
}

type prompt struct {
	first, last string
	updated     number
}

// fill asks for the prompts of the sessions that changed, the newest first. It gives up
// after a second, so that prompts do not delay the answer.
func (p *prompts) fill(ctx context.Context, t *target, c *client, rows []row) {
	wanted := p.wanted(t, rows)
	if len(wanted) == 0 || !c.hello.has("sessions.preview") {
		return
	}
	keys := make([]string, len(wanted))
	byKey := make(map[string]*row, len(wanted))
	for i, r := range wanted {
		keys[i], byKey[r.Key] = r.Key, r
	}
	limited, cancel := context.WithTimeout(ctx, previewLimit)
	defer cancel()
	var answer previews
	err := c.call(limited, "sessions.preview", map[string]any{
		"keys": keys, "limit": previewItems, "maxChars": previewChars}, &answer)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, preview := range answer.Previews {
		if r := byKey[preview.Key]; r != nil {
			at := place{t.id, r.promptKey()}
			said := preview.prompt(r.Updated)
			said.first = cmp.Or(p.said[at].first, said.first)
			p.said[at] = said
		}
	}
}

// promptKey returns a key that changes when the session behind the row's key does.
func (r *row) promptKey() string { return r.Key + "\x00" + r.SessionID }

func (p *prompts) wanted(t *target, rows []row) []*row {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.said == nil || len(p.said) > maxRemembered {
		p.said = map[place]prompt{}
	}
	var list []*row
	for i := range rows {
		if have, ok := p.said[place{t.id, rows[i].promptKey()}]; !ok || have.updated != rows[i].Updated {
			list = append(list, &rows[i])
		}
	}
	slices.SortFunc(list, func(a, b *row) int { return cmp.Compare(b.Updated, a.Updated) })
	return list[:min(len(list), previewKeys)]
}

func (p *prompts) of(t *target, r *row) (first, last string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	said := p.said[place{t.id, r.promptKey()}]
	return said.first, said.last
}

// previews is the answer to sessions.preview: the ends of conversations.
type previews struct {
	Previews []preview `json:"previews"`
}

type preview struct {
	Key   string `json:"key"`
	Items []struct {
		Role string `json:"role"`
		Text string `json:"text"`
	} `json:"items"`
}

// prompt returns the user's prompts in a preview. The first prompt is known only when
// the conversation is shorter than the requested length.
func (p *preview) prompt(updated number) prompt {
	said1 := prompt{updated: updated}
	for _, item := range p.Items {
		words := adapters.Cut(userText(item.Text))
		if item.Role != "user" || words == "" || isGatewayText(words) {
			continue
		}
		if said1.first == "" {
			said1.first = words
		}
		said1.last = words
	}
	if len(p.Items) >= previewItems {
		said1.first = ""
	}
	return said1
}
