package gemini

import (
	"cmp"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// record is one line of a session's file, or one message of a file that is a single object (0.29.0).
type record struct {
	kind kind
	line bool // it is a line of its own
	id   string
	at   time.Time
	why  string // with unknown: what is not known

	// of a header
	sub    bool
	folder string

	// of a change
	title  string
	listed bool // it replaces the messages
	list   []record

	// of a message
	typ     string
	text    string
	results bool // it has the results of tools
	calls   int  // that are over
	model   string
	tokens  *adapters.Tokens
	total   int64
}

type kind int

const (
	unknown kind = iota
	header
	change
	message
	rewound
	nothing // a record without a meaning for the session
)

// fields are the members of a record, as written.
type fields struct {
	session, set, rewind, id, at, updated, typ, content, shown []byte
	calls, tokens, model, messages, summary                    []byte
	kind, start, folders                                       []byte
}

func (f *fields) read(line []byte) error {
	return agentfile.Members(line,
		agentfile.Into("sessionId", &f.session), agentfile.Into("$set", &f.set), agentfile.Into("$rewindTo", &f.rewind),
		agentfile.Into("id", &f.id), agentfile.Into("timestamp", &f.at), agentfile.Into("lastUpdated", &f.updated),
		agentfile.Into("type", &f.typ), agentfile.Into("content", &f.content), agentfile.Into("displayContent", &f.shown),
		agentfile.Into("toolCalls", &f.calls), agentfile.Into("tokens", &f.tokens), agentfile.Into("model", &f.model),
		agentfile.Into("messages", &f.messages), agentfile.Into("summary", &f.summary), agentfile.Into("kind", &f.kind),
		agentfile.Into("startTime", &f.start), agentfile.Into("directories", &f.folders))
}

// parse reads one line.
func parse(line []byte) (record, error) {
	var f fields
	if err := f.read(line); err != nil {
		return record{}, err
	}
	var r record
	switch {
	case f.set != nil:
		var set fields
		if err := set.read(f.set); err != nil {
			return record{}, err
		}
		r = set.change()
	case f.rewind != nil:
		r = record{kind: rewound}
	case f.typ != nil:
		r = f.message()
	case f.session != nil:
		r = f.header()
	default:
		r = record{why: "record without a type"}
	}
	r.line = true
	return r, nil
}

// parseObject reads a whole file of 0.29.0: the header, the messages, and the title.
func parseObject(object []byte) ([]record, error) {
	var f fields
	if err := f.read(object); err != nil {
		return nil, err
	}
	if f.session == nil || f.messages == nil {
		return nil, agentfile.ErrSyntax
	}
	list := append([]record{f.header()}, messagesOf(f.messages)...)
	return append(list, record{kind: change, at: agentfile.Time(f.updated), title: short(f.summary)}), nil
}

func (f *fields) header() record {
	r := record{kind: header, id: short(f.session), at: agentfile.Time(f.start), sub: string(agentfile.Text(f.kind)) == "subagent"}
	_ = agentfile.Each(f.folders, func(folder []byte) bool {
		r.folder = short(folder)
		return false
	})
	return r
}

func (f *fields) change() record {
	r := record{kind: change, id: short(f.session), at: agentfile.Time(f.updated), title: short(f.summary), listed: f.messages != nil}
	if r.listed {
		r.list = messagesOf(f.messages)
	}
	return r
}

func messagesOf(raw []byte) (list []record) {
	_ = agentfile.Each(raw, func(one []byte) bool {
		var f fields
		if err := f.read(one); err == nil {
			list = append(list, f.message())
		}
		return true
	})
	return list
}

func (f *fields) message() record {
	r := record{kind: message, id: short(f.id), typ: short(f.typ), at: agentfile.Time(f.at), model: short(f.model)}
	r.text, r.results = textOf(f.content, textLimit)
	if shown, _ := textOf(f.shown, textLimit); shown != "" {
		r.text = shown
	}
	_ = agentfile.Each(f.calls, func(call []byte) bool {
		if at := agentfile.Time(agentfile.Get(call, "timestamp")); at.After(r.at) {
			r.at = at
		}
		r.calls++
		return true
	})
	if !agentfile.Null(f.tokens) {
		count := func(name string) int64 {
			n, _ := agentfile.Int(agentfile.Get(f.tokens, name))
			return max(n, 0)
		}
		cached := count("cached")
		r.tokens = &adapters.Tokens{Input: max(count("input")-cached, 0) + count("tool"), Output: count("output"), CacheRead: cached, Reasoning: count("thoughts")}
		r.total = count("total")
	}
	return r
}

// contextMark begins the text with which 0.61.0 tells the model about the folder. The user did not write it.
const contextMark = "<session_context>"

// textOf returns the text of a message's content, which is a string or a list of parts, and whether a part is the
// result of a tool.
func textOf(raw []byte, limit int) (text string, results bool) {
	if len(raw) > 0 && raw[0] == '"' {
		text, _ = agentfile.Head(raw, limit)
		return text, false
	}
	var parts []string
	size := 0
	_ = agentfile.Each(raw, func(part []byte) bool {
		results = results || agentfile.Get(part, "functionResponse") != nil
		some, _ := agentfile.Head(agentfile.Get(part, "text"), limit)
		if some != "" && !strings.HasPrefix(some, contextMark) && size < limit {
			parts = append(parts, some)
			size += len(some) + 1
		}
		return true
	})
	return adapters.CutTo(strings.Join(parts, "\n"), limit), results
}

func short(raw []byte) string {
	text, _ := agentfile.Head(raw, textLimit)
	return text
}

// argument returns the most descriptive argument of a call.
func argument(raw []byte) string {
	return cmp.Or(kit.Argument(raw, []string{"command", "file_path", "path", "pattern", "query", "url", "prompt"}, kit.Shown.Text), kit.AnyArgument(raw))
}
