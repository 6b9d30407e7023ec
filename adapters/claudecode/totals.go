package claudecode

import (
	"bytes"

	"rollcall/adapters"
	"rollcall/adapters/internal/jsonl"
)

// totals holds the sums over a whole transcript, all of which must be read for them.
type totals struct {
	next                 int64 // read up to here
	tokens               adapters.Tokens
	cost                 float64
	customTitle, aiTitle string
	unsure               bool // a line over the cap may have held an answer

	// Each block of an answer is a separate line that repeats the usage of the whole
	// answer, so usage counts once per message id.
	last      uint64
	lastUsage adapters.Tokens
	seen      map[uint64]struct{}
}

// add adds one line to the sums. It decodes answers only.
func (t *totals) add(line []byte) {
	var typ, message, custom, ai, cost []byte
	err := jsonl.Top(bytes.TrimLeft(line, "\x00"), func(key, raw []byte) bool {
		switch string(key) {
		case "type":
			typ = jsonl.Text(raw)
			return !isIrrelevantType(typ) && (message == nil || string(typ) != "assistant")
		case "message":
			message = raw
			return typ == nil // the type comes after the message
		case "attachment":
			return false
		case "customTitle":
			custom = raw
		case "aiTitle":
			ai = raw
		case "totalCostUSD":
			cost = raw
		}
		return true
	})
	if err != nil {
		return
	}
	switch string(typ) {
	case "assistant":
		t.answer(message)
	case "custom-title":
		set(&t.customTitle, text(custom))
	case "ai-title":
		set(&t.aiTitle, text(ai))
	case "cost-state":
		usd, _ := jsonl.Float(cost)
		t.cost = max(t.cost, usd)
	}
}

func isIrrelevantType(typ []byte) bool {
	switch string(typ) {
	case "user", "attachment", "system", "progress":
		return true
	}
	return bytes.HasPrefix(typ, []byte("api-request")) || bytes.HasPrefix(typ, []byte("file-history"))
}

func (t *totals) answer(message []byte) {
	var id uint64
	var raw []byte
	_ = jsonl.Top(message, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			id = hash(value)
		case "usage":
			raw = value
		}
		return true
	})
	if usage, ok := tokens(raw); ok {
		t.count(id, usage)
	}
}

func (t *totals) count(id uint64, usage adapters.Tokens) {
	switch id {
	case 0:
	case t.last: // a later block: its usage is the fuller one
		last := &t.lastUsage
		more := adapters.Tokens{
			Input: max(usage.Input-last.Input, 0), Output: max(usage.Output-last.Output, 0),
			CacheRead: max(usage.CacheRead-last.CacheRead, 0), CacheWrite: max(usage.CacheWrite-last.CacheWrite, 0),
			Reasoning: max(usage.Reasoning-last.Reasoning, 0),
		}
		t.tokens.Add(more)
		last.Add(more)
		return
	default:
		if _, counted := t.seen[id]; counted {
			return
		}
		if t.seen == nil {
			t.seen = make(map[uint64]struct{})
		}
		t.seen[id] = struct{}{}
		t.last, t.lastUsage = id, usage
	}
	t.tokens.Add(usage)
}

// clone returns sums to which a line can be added on trial.
func (t *totals) clone() totals {
	c := *t
	c.seen = nil
	for id := range t.seen {
		if c.seen == nil {
			c.seen = make(map[uint64]struct{}, len(t.seen))
		}
		c.seen[id] = struct{}{}
	}
	return c
}

// mayAnswer reports whether a line over the cap can be an answer, from its ends.
func mayAnswer(l *jsonl.LongLine) bool {
	return !bytes.Contains(l.Head, []byte(`"type":"user"`)) && !bytes.Contains(l.Head, []byte(`"attachment":{`)) &&
		!bytes.HasPrefix(l.Head, requestDump)
}
