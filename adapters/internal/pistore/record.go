package pistore

import (
	"errors"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// textLimit cuts prompts, titles and errors.
const textLimit = 4 << 10

// kind is the meaning of a record for a session's turn.
type kind uint8

const (
	other      kind = iota // says nothing about the turn
	headerLine             // {"type":"session"}
	prompted               // a user's message
	answered               // the model's
	toolDone               // a tool's result
	omitted                // context_edit that leaves an entry out: a retry is to follow
	summarised             // branch_summary: the user went to another branch
	injected               // an extension's message, which may or may not begin a turn
	unknown                // a type that isn't known
)

// record holds the contents of one line.
type record struct {
	kind   kind
	typ    string // of the line; for a message with an unknown role also that
	id     string
	parent string
	at     time.Time

	text   string // prompt, or an answer's error
	name   string
	named  bool // name is set, also if it is empty
	model  string
	stop   string
	calls  int    // tool calls in an answer
	tool   string // name of the last of them
	usage  usage
	total  int64 // tokens in the context after an answer
	system bool  // a system message: only newer versions write them

	head header
}

// header is a session's first line.
type header struct {
	id, cwd string
	at      time.Time
	version int64
	parent  string // path of the session that it was forked from
	// isRust reports that the header has members that only pi_agent_rust writes.
	isRust bool
}

// usage holds the tokens and the cost that a record states.
type usage struct {
	adapters.Tokens
	cost float64
}

func (u *usage) add(o usage) {
	u.Add(o.Tokens)
	u.cost += o.cost
}

var errNotRecord = errors.New("not a session record")

// fields holds the members of a line that Rollcall reads, as written.
type fields struct {
	typ, id, parent, at, message, name, provider, model []byte
	usage, replacement, cwd, version                    []byte
	parentSession, branchedFrom, thinking, leaf         []byte
}

// read reads the members of a line.
func (f *fields) read(line []byte) error {
	into := agentfile.Into
	return agentfile.Members(line, into("type", &f.typ), into("id", &f.id), into("parentId", &f.parent), into("timestamp", &f.at),
		into("message", &f.message), into("name", &f.name), into("provider", &f.provider), into("modelId", &f.model),
		into("usage", &f.usage), into("replacement", &f.replacement), into("cwd", &f.cwd), into("version", &f.version),
		into("parentSession", &f.parentSession), into("branchedFrom", &f.branchedFrom), into("thinkingLevel", &f.thinking),
		into("currentLeaf", &f.leaf))
}

// parse reads one line. What it returns shares no memory with line.
func parse(line []byte) (record, error) {
	var f fields
	if err := f.read(line); err != nil {
		return record{}, err
	}
	if agentfile.Text(f.typ) == nil {
		return record{}, errNotRecord
	}
	r := record{typ: short(f.typ), id: short(f.id), parent: short(f.parent), at: agentfile.Time(f.at)}
	switch r.typ {
	case "session":
		r.kind, r.head = headerLine, f.header()
	case "message":
		r.message(f.message)
	case "session_info":
		r.name, _ = agentfile.Head(f.name, textLimit)
		r.name, r.named = strings.TrimSpace(r.name), true
	case "model_change":
		r.model = modelName(f.provider, f.model)
	case "context_edit":
		if agentfile.Null(f.replacement) {
			r.kind = omitted
		}
	case "branch_summary":
		r.kind = summarised
		r.setUsage(f.usage)
	case "usage", "compaction":
		r.setUsage(f.usage)
	case "custom_message":
		r.kind = injected
	case "thinking_level_change", "label", "custom":
	default:
		r.kind = unknown
	}
	return r, nil
}

func (f *fields) header() header {
	h := header{at: agentfile.Time(f.at)}
	h.id, _ = agentfile.Head(f.id, 256)
	h.cwd, _ = agentfile.Head(f.cwd, textLimit)
	h.version, _ = agentfile.Int(f.version)
	h.parent, _ = agentfile.Head(f.parentSession, textLimit)
	if h.parent == "" {
		h.parent, _ = agentfile.Head(f.branchedFrom, textLimit)
	}
	h.isRust = f.provider != nil || f.model != nil || f.thinking != nil || f.branchedFrom != nil || f.leaf != nil
	return h
}

// message reads a "message" line's message.
func (r *record) message(raw []byte) {
	into := agentfile.Into
	var role, content, stop, problem, provider, model, use []byte
	if agentfile.Members(raw, into("role", &role), into("content", &content), into("stopReason", &stop), into("errorMessage", &problem),
		into("provider", &provider), into("model", &model), into("usage", &use)) != nil {
		r.kind = unknown
		return
	}
	switch who := string(agentfile.Text(role)); who {
	case "user":
		r.kind, r.text = prompted, contentText(content, textLimit)
	case "assistant":
		r.kind, r.stop = answered, short(stop)
		r.text, _ = agentfile.Head(problem, textLimit)
		r.model = modelName(provider, model)
		r.calls, r.tool = toolCalls(content)
		r.setUsage(use)
		r.total = kit.Number(agentfile.Get(use, "totalTokens"))
	case "toolResult":
		r.kind = toolDone
		r.setUsage(use)
	case "system":
		r.system = true
	case "custom", "hookMessage":
		r.kind = injected
	case "bashExecution", "branchSummary", "compactionSummary":
	default:
		r.kind, r.typ = unknown, r.typ+" of role "+kit.PlainWord(who)
	}
}

func (r *record) setUsage(raw []byte) {
	into := agentfile.Into
	var input, output, cacheRead, cacheWrite, reasoning, cost []byte
	_ = agentfile.Members(raw, into("input", &input), into("output", &output), into("cacheRead", &cacheRead), into("cacheWrite", &cacheWrite),
		into("reasoning", &reasoning), into("reasoningTokens", &reasoning), into("cost", &cost)) // the second name is oh-my-pi's (18.2.3)
	r.usage.Tokens = adapters.Tokens{Input: kit.Number(input), Output: kit.Number(output), CacheRead: kit.Number(cacheRead), CacheWrite: kit.Number(cacheWrite),
		Reasoning: kit.Number(reasoning)}
	r.usage.cost, _ = agentfile.Float(agentfile.Get(cost, "total"))
}

// contentText joins the texts of a message's content, which is a string or a
// list of blocks.
func contentText(raw []byte, limit int) string {
	if len(raw) > 0 && raw[0] == '"' {
		text, _ := agentfile.Head(raw, limit)
		return text
	}
	return kit.PartsText(raw, limit, func(block []byte, _ string) bool {
		return string(agentfile.Text(agentfile.Get(block, "type"))) == "text"
	})
}

func toolCalls(raw []byte) (n int, last string) {
	kit.Each(raw, func(block []byte) {
		if string(agentfile.Text(agentfile.Get(block, "type"))) == "toolCall" {
			n++
			last = kit.PlainWord(short(agentfile.Get(block, "name")))
		}
	})
	return n, last
}

// modelName returns "provider/model", as Pi's own command line takes it.
func modelName(provider, model []byte) string {
	p, m := short(provider), short(model)
	if p == "" || m == "" {
		return m
	}
	return p + "/" + m
}

func short(raw []byte) string {
	s, _ := agentfile.Head(raw, 256)
	return s
}
