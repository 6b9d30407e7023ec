package openclaw

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

const (
	previewKeys  = 30   // sessions per question
	previewItems = 20   // messages of each
	previewChars = 1000 // of each message
	previewLimit = time.Second
)

// prompts caches the first and the last prompt of each session until its row changes. The
// first is not kept for longer: a gateway does not tell it of a long conversation.
type prompts struct {
	kit.Memo[place, prompt]
}

type prompt struct {
	first, last string
	updated     number
}

// fill asks for the prompts of the sessions that changed, the newest first. It gives up
// after a second, so that prompts do not delay the answer.
func (p *prompts) fill(ctx context.Context, t *target, c *client, rows []row) {
	wanted := newest(rows, previewKeys, func(r *row) bool {
		have, ok := p.Get(r.place(t))
		return !ok || have.updated != r.Updated
	})
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
	for _, preview := range answer.Previews {
		if r := byKey[preview.Key]; r != nil {
			p.Put(r.place(t), preview.prompt(r.Updated))
		}
	}
}

// place returns a key for facts of the session. The key changes when another session gets the key of the row.
func (r *row) place(t *target) place { return place{t.id, r.Key + "\x00" + r.SessionID} }

// newest returns the rows that are wanted, the newest first. If there are too many, it returns only the first of them.
func newest(rows []row, most int, wanted func(*row) bool) []*row {
	var list []*row
	for i := range rows {
		if wanted(&rows[i]) {
			list = append(list, &rows[i])
		}
	}
	slices.SortFunc(list, func(a, b *row) int { return cmp.Compare(b.Updated, a.Updated) })
	return list[:min(len(list), most)]
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
	said := prompt{updated: updated}
	for _, item := range p.Items {
		words := adapters.Cut(userText(item.Text))
		if item.Role != "user" || words == "" || isGatewayText(words) {
			continue
		}
		said.first = cmp.Or(said.first, words)
		said.last = words
	}
	if len(p.Items) >= previewItems {
		said.first = ""
	}
	return said
}

var (
	// timePrefix matches the time that versions up to 2026.5 put before the user's
	// text.
	timePrefix = regexp.MustCompile(`^\[[A-Z][a-z]{2} \d{4}-\d{2}-\d{2} \d{2}:\d{2}[^\]\n]{0,30}\] ?`)
	// contextPrefix matches the beginning of the context that they put there (the sender,
	// the group and similar): JSON in a fence. A title has it in one line, cut off.
	contextPrefix = regexp.MustCompile("^[A-Z][A-Za-z ]{2,60} \\(untrusted[^)\\n]{0,40}\\):\\s+```json\\s")
	// taskMark separates the instructions of a sub-agent from its task: in a separate
	// line (2026.9.6), or before a colon (2026.2.26).
	taskMark = regexp.MustCompile(`\[Subagent Task\](?::|\s*\n)`)
)

// isGatewayText reports whether a text with the role of the user is from the gateway:
// after a restart, and at intervals while nothing happens.
func isGatewayText(s string) bool {
	return strings.HasPrefix(s, "[System] ") || strings.HasPrefix(s, "[OpenClaw heartbeat")
}

// userText returns a text of the user without the text that the gateway put before it,
// and "" when the text was cut off before the user's words. For a sub-agent it returns
// the task.
func userText(s string) string {
	if at := taskMark.FindStringIndex(s); at != nil && strings.Contains(s[:at[0]], "[Subagent Context] ") {
		s = strings.TrimSuffix(strings.TrimSpace(s[at[1]:]), "Begin. Execute the assigned task to completion.")
	}
	for {
		s = strings.TrimSpace(timePrefix.ReplaceAllString(strings.TrimSpace(s), ""))
		head := contextPrefix.FindString(s)
		if head == "" {
			return s
		}
		_, rest, ok := strings.Cut(s[len(head)-1:], "\n```")
		if !ok {
			return ""
		}
		s = rest
	}
}
