package grok

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// events holds what events.jsonl says of a session.
type events struct {
	schema string // of the form of the last turn's records
	model  string
	last   time.Time // of the newest record
	turn   turn
	known  int // records that were recognised
	kit.Skips
}

// turn is the state of the last turn.
type turn struct {
	open    bool
	spoke   bool      // the model answered: until then the user can take the prompt back
	lost    string    // why the state of the open turn is not known
	at      time.Time // of its beginning
	outcome adapters.Outcome
	phase   string
	asked   []asked  // requests for a permission without a decision
	tools   []string // that were started and have not ended
}

type asked struct {
	tool string
	at   time.Time
}

// formPrefix begins the version of the form of the records that is known: "1.0" in 1.0.41.
const formPrefix = "1."

// maxOpen is the largest number of requests and tools that are kept.
const maxOpen = 64

// event is one line of events.jsonl, as written.
type event struct {
	at, typ, tool, phase, outcome, model, schema, enabled []byte
}

func parseEvent(line []byte) (e event, err error) {
	err = agentfile.Members(line, agentfile.Into("ts", &e.at), agentfile.Into("type", &e.typ), agentfile.Into("tool_name", &e.tool), agentfile.Into("phase", &e.phase),
		agentfile.Into("outcome", &e.outcome), agentfile.Into("model_id", &e.model), agentfile.Into("schema_version", &e.schema), agentfile.Into("enabled", &e.enabled))
	if err == nil && agentfile.Text(e.typ) == nil {
		err = kit.ErrForm
	}
	return e, err
}

// ignored lists how the types of records begin that say nothing of the status, by the program's own list (1.0.41).
var ignored = []string{"interjected", "mcp_", "goal_", "laziness_", "todo_gate_"}

// Line implements kit.Gatherer.
func (f *events) Line(line []byte) error {
	if _, err := agentfile.Records(line, parseEvent, f.apply); err != nil {
		f.Skip("line that is not a record")
		f.lose("a line that is not a record")
	}
	return nil
}

// Long implements kit.Gatherer.
func (f *events) Long(words string) {
	f.Skip(kit.LongLine)
	f.known++ // it is not a form that is not known
	f.lose(words)
}

// Partial implements kit.Gatherer. The record that is being written comes with the next look.
func (f *events) Partial() {}

// Clone implements kit.Gatherer.
func (f *events) Clone() events {
	c := *f
	c.turn.asked, c.turn.tools = slices.Clone(f.turn.asked), slices.Clone(f.turn.tools)
	return c
}

// lose notes a line that can't be read: in a turn it can be what ends it, or a request or its decision.
func (f *events) lose(why string) {
	if f.turn.open {
		f.turn.lost = why
	}
}

// apply adds one record.
func (f *events) apply(e *event) {
	typ, at := string(agentfile.Text(e.typ)), agentfile.Time(e.at)
	switch {
	case typ == "turn_started":
		f.turn = turn{open: true, at: at}
		f.schema, f.model = kit.Short(e.schema), cmp.Or(kit.Short(e.model), f.model)
	case typ == "turn_ended":
		f.turn = turn{at: f.turn.at, outcome: outcomes[string(agentfile.Text(e.outcome))]}
	case f.turn.step(typ, e, at):
	case slices.ContainsFunc(ignored, func(kind string) bool { return strings.HasPrefix(typ, kind) }):
	default:
		f.Skip("unknown record type " + kit.PlainWord(typ))
		return
	}
	f.known++
	if at.After(f.last) {
		f.last = at
	}
}

// outcomes has the outcomes of turns (1.0.41). The user's denial of a request cancels the turn. "interrupted" is what the next process records of a turn in which
// the process before it ended.
var outcomes = map[string]adapters.Outcome{"completed": adapters.Completed, "cancelled": adapters.Interrupted, "error": adapters.Failed, "interrupted": adapters.Died}

// step takes a record of an open turn. It returns false for other types. A request is decided on by its own record, and by what can come only after it: the end
// of its tool, a new request to the model, and the user's choice to allow everything, after which tools ask no more.
func (t *turn) step(typ string, e *event, at time.Time) bool {
	tool := kit.PlainWord(kit.Short(e.tool))
	switch typ {
	case "phase_changed":
		t.phase = kit.PlainWord(kit.Short(e.phase))
		t.spoke = t.spoke || t.phase != "waiting_for_model"
	case "first_token":
		t.spoke = true
	case "loop_started":
		t.asked = nil
		t.tools = nil
		t.lost = ""
	case "tool_started":
		if t.open && len(t.tools) < maxOpen {
			t.tools = append(t.tools, tool)
		}
	case "tool_completed":
		t.tools = without(t.tools, func(one string) bool { return one == tool })
		t.decided(tool)
	case "permission_requested":
		if t.open && len(t.asked) < maxOpen {
			t.asked = append(t.asked, asked{tool, at})
		}
	case "permission_resolved":
		t.decided(tool)
	case "yolo_toggled":
		if agentfile.True(e.enabled) {
			t.asked = nil
		}
	default:
		return false
	}
	return true
}

// decided removes the first request of a tool.
func (t *turn) decided(tool string) {
	t.asked = without(t.asked, func(one asked) bool { return one.tool == tool })
}

// without returns a list without the first element that is meant.
func without[E any](list []E, is func(E) bool) []E {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}
