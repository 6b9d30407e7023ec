package claudecode

import (
	"bytes"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// textLimit is the number of bytes of a prompt or a title that are kept.
const textLimit = 4 << 10

// kind is the meaning of a transcript record for the turn.
type kind uint8

const (
	irrelevant   kind = iota // says nothing about turns
	prompted                 // input that opens a turn
	answered                 // a block of the model's answer
	toolResult               // results of tools
	interrupted              // the user stopped the turn
	commanded                // a slash command; it may open a turn
	turnMeasured             // written when a turn is over
	abandoned                // the turn ended without the user's or the model's doing
	processEnded             // the last record of a process that ends in an orderly way
	continued                // the session goes on under another id
)

// toolUse is a tool call that the model asked for.
type toolUse struct {
	id   uint64
	name string
	at   time.Time
	does string // what the call does, in a few words
	call uint64 // the tool with its arguments
}

// record holds the parts of one transcript line that Rollcall needs.
type record struct {
	kind      kind
	unknown   string // the type, when it isn't a known one
	at        time.Time
	id        uint64 // hash of uuid
	parent    uint64 // hash of parentUuid
	sidechain bool

	cwd, branch, version, model string
	entrypoint, team, mate      string

	text       string // of a prompt
	human      bool   // text is the user's own
	stop       string // stop_reason
	failed     bool   // isApiErrorMessage
	apiStatus  int64
	resets     int64 // when the limit that failed the turn is reset, in Unix time; 0: not recorded
	synthetic  bool  // not written by a model
	endsInText bool
	said       string // the beginning of the text of an answer
	uses       []toolUse
	results    []uint64
	wakes      time.Time // with toolResult: when the agent wakes up

	message  uint64 // hash of message.id
	hasUsage bool
	usage    adapters.Tokens

	customTitle, aiTitle, lastPrompt string
	cost                             float64
	began                            time.Time // with processEnded: when that process started
	next                             string    // with continued: the id of the session that goes on
}

// hash returns a number that identifies an id, and 0 for no id, so that millions of ids
// need not be kept as text. It is the same in every process, since facts are kept between
// processes.
func hash(raw []byte) uint64 {
	if len(raw) == 0 || raw[0] != '"' {
		return 0
	}
	return xxhash.Sum64(raw) | 1
}

// parser turns lines into records. It keeps the strings that repeat on every line. A
// parser must be used by one goroutine.
type parser struct {
	cwd, branch, version, model, entrypoint, team, mate string
}

// raws holds the values of the top-level members that Rollcall reads, as written.
type raws struct {
	kind, subtype, at, id, parent, sidechain, meta, compact, cwd, branch, version,
	message, attachment, origin, failed, apiStatus, customTitle, aiTitle, lastPrompt,
	cost, began, relocated, content, entrypoint, team, mate, quota, next, result []byte
}

// read reads the members of a line.
func (r *raws) read(line []byte) error {
	into := agentfile.Into
	return agentfile.Members(line, into("type", &r.kind), into("timestamp", &r.at), into("uuid", &r.id), into("parentUuid", &r.parent),
		into("isSidechain", &r.sidechain), into("cwd", &r.cwd), into("version", &r.version), into("gitBranch", &r.branch),
		into("message", &r.message), into("entrypoint", &r.entrypoint), into("isMeta", &r.meta), into("origin", &r.origin),
		into("attachment", &r.attachment), into("subtype", &r.subtype), into("content", &r.content), into("isCompactSummary", &r.compact),
		into("isApiErrorMessage", &r.failed), into("apiErrorStatus", &r.apiStatus), into("quotaLimits", &r.quota),
		into("customTitle", &r.customTitle), into("aiTitle", &r.aiTitle), into("lastPrompt", &r.lastPrompt), into("totalCostUSD", &r.cost),
		into("startTime", &r.began), into("relocatedCwd", &r.relocated), into("teamName", &r.team), into("agentName", &r.mate),
		into("continuedInSessionId", &r.next), into("toolUseResult", &r.result))
}

// requestDump begins the lines that hold whole requests: these make up most of a transcript's
// bytes and contain nothing about the session.
var requestDump = []byte(`{"type":"api-request`)

// parse reads one line. It returns an error unless the line is valid JSON.
func (p *parser) parse(line []byte) (record, error) {
	line = bytes.TrimLeft(line, "\x00") // a crash can leave these; Claude Code skips them, too
	if bytes.HasPrefix(line, requestDump) && !bytes.Contains(line, nextRecord) {
		return record{}, nil
	}
	var r raws
	if err := r.read(line); err != nil {
		return record{}, err
	}
	rec := record{
		at: agentfile.Time(r.at), id: hash(r.id), parent: hash(r.parent), sidechain: agentfile.True(r.sidechain),
		cwd: reuse(&p.cwd, r.cwd), branch: reuse(&p.branch, r.branch), version: reuse(&p.version, r.version),
		entrypoint: reuse(&p.entrypoint, r.entrypoint), team: reuse(&p.team, r.team),
	}
	if rec.team != "" { // other records have an agent's name, too
		rec.mate = reuse(&p.mate, r.mate)
	}
	p.ofKind(&rec, &r)
	return rec, nil
}

// ofKind reads what a line has by the type of its record.
func (p *parser) ofKind(rec *record, r *raws) {
	switch typ := agentfile.Text(r.kind); string(typ) {
	case "user":
		rec.user(r)
	case "assistant":
		p.assistant(rec, r)
	case "attachment":
		if string(agentfile.Text(agentfile.Get(r.attachment, "type"))) == "model" {
			rec.model = reuse(&p.model, agentfile.Get(r.attachment, "identity", "modelId"))
		}
	case "system":
		switch string(agentfile.Text(r.subtype)) {
		case "turn_duration", "stop_hook_summary":
			rec.kind = turnMeasured
		}
	case "custom-title":
		rec.customTitle = text(r.customTitle)
	case "ai-title":
		rec.aiTitle = text(r.aiTitle)
	case "last-prompt":
		rec.lastPrompt = text(r.lastPrompt)
	case "cost-state":
		rec.cost, _ = agentfile.Float(r.cost)
		began, _ := agentfile.Int(r.began)
		rec.kind, rec.began = processEnded, millis(began)
	case "continued-in":
		rec.kind, rec.next = continued, text(r.next)
	case "relocated":
		rec.cwd = text(r.relocated)
	default:
		if !isKnownType(typ) {
			rec.unknown = "record without a type"
			if len(typ) > 0 {
				rec.unknown = "unknown record type " + shorten(string(typ))
			}
		}
	}
}

// reuse returns the text of raw, as the string of the line before when both are the
// same.
func reuse(last *string, raw []byte) string {
	if t := agentfile.Text(raw); string(t) != *last && len(t) <= textLimit {
		*last = agentfile.String(raw)
	}
	if len(raw) < 3 { // absent or empty
		return ""
	}
	return *last
}

func text(raw []byte) string {
	s, _ := agentfile.Head(raw, textLimit)
	return strings.TrimSpace(s)
}

// isKnownType reports whether a record type is skipped on purpose: one that Claude Code
// up to 2.1.332 can write and that Rollcall does not need.
func isKnownType(typ []byte) bool {
	switch string(typ) {
	case "mode", "permission-mode", "repl-mode", "memory-mode", "isolation-latch", "atis-latch", "tools-used", "tag",
		"agent-name", "agent-color", "agent-setting", "session-owner", "dev-mods", "hybrid-organization",
		"file-history-snapshot", "file-history-delta", "attribution-snapshot", "content-replacement",
		"summary", "queue-operation", "teleported-from", "progress", "result", "task-summary", "speculation-accept",
		"pr-link", "frame-link", "bridge-session", "worktree-state", "observer-ref", "history-suppression",
		"derived-from", "ended-by-model", "fork-context-ref", "resume-head-vouch",
		"data-flow-records", "data-flow-incomplete", "artifact-comment-monitor", "artifact-autoreact-ledger":
		return true
	}
	return bytes.HasPrefix(typ, []byte("api-request"))
}

// synthetic is the model of an answer that no model wrote, as written.
const synthetic = `"<synthetic>"`

func (p *parser) assistant(rec *record, r *raws) {
	rec.kind = answered
	rec.failed = agentfile.True(r.failed)
	rec.apiStatus, _ = agentfile.Int(r.apiStatus)
	rec.resets, _ = agentfile.Int(agentfile.Get(r.quota, "resetsAt"))
	into := agentfile.Into
	var id, model, content, stop, usage []byte
	_ = agentfile.Members(r.message, into("id", &id), into("model", &model), into("content", &content), into("stop_reason", &stop), into("usage", &usage))
	rec.message, rec.stop = hash(id), agentfile.String(stop)
	rec.synthetic = string(model) == synthetic
	if !rec.synthetic {
		rec.model = reuse(&p.model, model)
	}
	rec.usage, rec.hasUsage = tokens(usage)
	kit.Each(content, rec.block)
}

func (rec *record) block(block []byte) {
	var typ, id, name, input, said []byte
	into := agentfile.Into
	_ = agentfile.Members(block, into("type", &typ), into("id", &id), into("name", &name), into("input", &input), into("text", &said))
	typ = agentfile.Text(typ)
	rec.endsInText = string(typ) == "text"
	if rec.endsInText && rec.said == "" {
		rec.said, _ = agentfile.Head(said, adapters.MaxDoing)
	}
	if string(typ) == "tool_use" && len(rec.uses) < maxPending {
		tool := shorten(agentfile.String(name))
		does := argument(input)
		if tool == planTool {
			does = adapters.Plain(does)
		}
		call := xxhash.New()
		_, _ = call.Write(name)
		_, _ = call.Write(input)
		rec.uses = append(rec.uses, toolUse{id: hash(id), name: tool, at: rec.at, call: call.Sum64(), does: adapters.Calling(tool, does, tool == bashTool || tool == questionTool || tool == planTool)})
	}
}

// tokens reads a usage object.
func tokens(raw []byte) (t adapters.Tokens, ok bool) {
	into := agentfile.Into
	var input, output, cacheRead, cacheWrite, details []byte
	err := agentfile.Members(raw, into("input_tokens", &input), into("output_tokens", &output), into("cache_read_input_tokens", &cacheRead),
		into("cache_creation_input_tokens", &cacheWrite), into("output_tokens_details", &details))
	t = adapters.Tokens{Input: kit.Number(input), Output: kit.Number(output), CacheRead: kit.Number(cacheRead), CacheWrite: kit.Number(cacheWrite),
		Reasoning: kit.Count(details, "thinking_tokens")}
	return t, err == nil && (input != nil || output != nil)
}

// shorten cuts a name from an agent to 40 bytes, for a sentence.
func shorten(s string) string {
	const limit = 40
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
