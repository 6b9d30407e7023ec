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
	ledger               kit.SavedLedger
	tokens               adapters.Tokens // of the ledger up to tokensAt
	tokensAt             int64
	cost                 float64            // the largest that was stated
	costs                map[string]float64 // the parts of it, by model
	customTitle, aiTitle string
	session              string      // that the first answer names
	unsure               bool        // a line over the cap may have held an answer
	answered             time.Time   // the time of the last answer
	command              uint64      // the user's last record, if it is a slash command
	parse                parser      `facts:"-"`
	at                   answerPlace // of the last answer
}

// answerPlace is where an answer was given.
type answerPlace struct{ model, cwd, branch string }

// sumFields holds the members of a line that the sums need, as written.
type sumFields struct {
	typ, message, custom, ai, cost, models, at, cwd, branch, session, origin []byte
}

// read reads the members of a line. It stops at a type that says nothing.
func (f *sumFields) read(line []byte) error {
	into := agentfile.Into
	err := agentfile.MembersUntil(line, endsSums, into("type", &f.typ), into("message", &f.message), into("timestamp", &f.at), into("cwd", &f.cwd),
		into("gitBranch", &f.branch), into("sessionId", &f.session), into("requestSessionId", &f.origin), into("customTitle", &f.custom),
		into("aiTitle", &f.ai), into("totalCostUSD", &f.cost), into("modelUsage", &f.models))
	f.typ = agentfile.Text(f.typ)
	return err
}

// endsSums reports whether a member shows that its record has nothing for the sums.
func endsSums(name, raw []byte) bool {
	return string(name) == "attachment" || string(name) == "type" && isIrrelevantType(agentfile.Text(raw))
}

// add adds one line to the sums. It decodes answers and prompts only.
func (t *totals) add(line []byte) {
	line = bytes.TrimLeft(line, "\x00")
	var f sumFields
	if f.read(line) == nil && (!isIrrelevantType(f.typ) || !bytes.Contains(line, nextRecord)) {
		t.record(&f, line)
		return
	}
	_, _ = agentfile.Records(line, func(line []byte) ([]byte, error) {
		return line, agentfile.Top(line, func(_, _ []byte) bool { return true })
	}, func(line *[]byte) {
		f = sumFields{}
		_ = f.read(*line)
		t.record(&f, *line)
	})
}

// nextRecord is between two records on one line.
var nextRecord = []byte(`}{"`)

// record adds one record.
func (t *totals) record(f *sumFields, line []byte) {
	switch string(f.typ) {
	case "assistant":
		t.answer(f)
	case "user":
		t.prompt(line)
	case "custom-title":
		set(&t.customTitle, text(f.custom))
	case "ai-title":
		set(&t.aiTitle, text(f.ai))
	case "cost-state":
		t.addCost(f)
	}
}

// addCost adds what was stated beyond the costs so far. A second process can state less.
func (t *totals) addCost(f *sumFields) {
	usd, _ := agentfile.Float(f.cost)
	if usd <= t.cost {
		return
	}
	more := usd - t.cost
	t.cost = usd
	if t.costs == nil {
		t.costs = map[string]float64{}
	}
	_ = agentfile.Top(f.models, func(model, used []byte) bool {
		now, _ := agentfile.Float(agentfile.Get(used, "costUSD"))
		if part := min(now-t.costs[string(model)], more); part > 0 {
			more -= part
			t.costs[string(model)] += part
			t.ledger.Add(kit.Entry{At: t.answered, Model: string(model), CWD: t.at.cwd, Branch: t.at.branch, CostUSD: part})
		}
		return true
	})
	if more > 1e-9 {
		t.ledger.Add(kit.Entry{At: t.answered, Model: t.at.model, CWD: t.at.cwd, Branch: t.at.branch, CostUSD: more})
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
	t.command = 0
	if err != nil || r.sidechain {
		return
	}
	switch {
	case r.kind == prompted && r.human && r.first() && r.at.Before(t.answered):
		t.ledger.LatePrompt()
	case r.kind == prompted && r.human, r.kind == commanded && r.synthetic && command != 0 && r.parent == command:
		t.ledger.Prompt()
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

// answer adds one block of an answer. Each block is a separate line that repeats the usage of the whole answer.
func (t *totals) answer(f *sumFields) {
	e := kit.Entry{At: agentfile.Time(f.at)}
	var id, usage, model, stop []byte
	_ = agentfile.Members(f.message, agentfile.Into("id", &id), agentfile.Into("usage", &usage), agentfile.Into("model", &model), agentfile.Into("stop_reason", &stop))
	// Of the records of an answer, the one with the reason for its end has what it used (2.1.81): a server in the style of Ollama states less then.
	e.ID, e.Final = hash(id), !agentfile.Null(stop)
	var ok bool
	e.Tokens, ok = tokens(usage)
	if !ok {
		return
	}
	if string(model) != synthetic {
		set(&t.at.model, reuse(&t.parse.model, model))
	}
	set(&t.at.cwd, reuse(&t.parse.cwd, f.cwd))
	set(&t.at.branch, reuse(&t.parse.branch, f.branch))
	if t.session == "" {
		t.session = agentfile.String(f.session)
	}
	e.Copied = f.origin != nil && string(f.origin) != string(f.session)
	e.Model = t.at.model
	e.CWD = t.at.cwd
	e.Branch = t.at.branch
	if e.Tokens == (adapters.Tokens{}) {
		return
	}
	t.answered = e.At
	t.ledger.Answer(e)
}

// count sets the tokens.
func (t *totals) count() { t.tokens, t.tokensAt = t.ledger.Tokens(), t.next }

// clone returns a copy to which a line can be added without changing t.
func (t *totals) clone() totals {
	c := *t
	c.ledger, c.costs = t.ledger.Clone(), maps.Clone(t.costs)
	return c
}

// mayAnswer reports whether a line over the cap can be an answer, as far as its beginning shows.
func mayAnswer(l *agentfile.LongLine) bool {
	return !bytes.Contains(l.Head, []byte(`"type":"user"`)) && !bytes.Contains(l.Head, []byte(`"attachment":{`)) &&
		!bytes.HasPrefix(l.Head, requestDump)
}
