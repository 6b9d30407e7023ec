package claudecode

import (
	"bytes"
	"maps"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// totals holds the sums over a whole transcript. They are complete only when the whole file was read.
type totals struct {
	next                 int64 // read up to here
	tokens               adapters.Tokens
	cost                 float64
	customTitle, aiTitle string
	unsure               bool // a line over the cap may have held an answer
	log                  kit.Log
	answered             time.Time // the time of the last answer
	command              uint64    // the user's last record, if it is a slash command
	parse                parser    `facts:"-"`

	// Each block of an answer is a separate line that repeats the usage of the whole
	// answer, so usage counts once per message id.
	last      uint64
	lastUsage adapters.Tokens
	seen      map[uint64]struct{}
}

// add adds one line to the sums. It decodes answers and prompts only.
func (t *totals) add(line []byte) {
	var typ, message, custom, ai, cost, at []byte
	line = bytes.TrimLeft(line, "\x00")
	err := agentfile.Top(line, func(key, raw []byte) bool {
		switch string(key) {
		case "type":
			typ = agentfile.Text(raw)
			return !isIrrelevantType(typ) && (message == nil || at == nil || string(typ) != "assistant")
		case "message":
			message = raw
			return typ == nil || at == nil // they come after the message
		case "timestamp":
			at = raw
			return typ == nil || message == nil || string(typ) != "assistant"
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
		t.answer(message, agentfile.Time(at))
	case "user":
		t.prompt(line)
	case "custom-title":
		set(&t.customTitle, text(custom))
	case "ai-title":
		set(&t.aiTitle, text(ai))
	case "cost-state":
		if usd, _ := agentfile.Float(cost); usd > t.cost {
			t.log.Add(agentfile.Time(at), adapters.Tokens{}, usd-t.cost)
			t.cost = usd
		}
	}
}

// toolResultType marks the result of a tool, near the beginning of its line. It does not occur inside a text, where
// quotes are escaped.
var toolResultType = []byte(`"type":"tool_result"`)

// prompt adds a record of type user, if it is a prompt of the user. Nearly all are results of tools.
func (t *totals) prompt(line []byte) {
	const near = 1 << 10
	if bytes.Contains(line[:min(len(line), near)], toolResultType) {
		return
	}
	r, err := t.parse.parse(line)
	command := t.command
	if t.command = 0; err != nil || r.sidechain {
		return
	}
	switch {
	case r.kind == prompted && r.human && r.first() && r.at.Before(t.answered):
		t.log.LatePrompt()
	case r.kind == prompted && r.human, r.kind == commanded && r.synthetic && command != 0 && r.parent == command:
		t.log.Prompt()
	case r.kind == commanded && !r.synthetic:
		t.command = r.id
	}
}

func isIrrelevantType(typ []byte) bool {
	switch string(typ) {
	case "user", "attachment", "system", "progress":
		return true
	}
	return bytes.HasPrefix(typ, []byte("api-request")) || bytes.HasPrefix(typ, []byte("file-history"))
}

func (t *totals) answer(message []byte, at time.Time) {
	var id uint64
	var raw []byte
	_ = agentfile.Top(message, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			id = hash(value)
		case "usage":
			raw = value
		}
		return true
	})
	if usage, ok := tokens(raw); ok {
		if usage != (adapters.Tokens{}) {
			t.log.Answer(at)
			t.answered = at
		}
		t.count(id, usage, at)
	}
}

func (t *totals) count(id uint64, usage adapters.Tokens, at time.Time) {
	switch id {
	case 0:
	case t.last: // a later block: its usage is more complete
		more := usage.Combine(t.lastUsage, func(now, last int64) int64 { return max(now-last, 0) })
		t.tokens.Add(more)
		t.log.Add(at, more, 0)
		t.lastUsage.Add(more)
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
	t.log.Add(at, usage, 0)
}

// clone returns a copy to which a line can be added without changing t.
func (t *totals) clone() totals {
	c := *t
	c.log = t.log.Clone()
	c.seen = maps.Clone(t.seen)
	return c
}

// mayAnswer reports whether a line over the cap can be an answer, as far as its beginning shows.
func mayAnswer(l *agentfile.LongLine) bool {
	return !bytes.Contains(l.Head, []byte(`"type":"user"`)) && !bytes.Contains(l.Head, []byte(`"attachment":{`)) &&
		!bytes.HasPrefix(l.Head, requestDump)
}
