package opencode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// textLimit bounds prompts, titles and errors, in bytes.
const textLimit = 4096

// message is one message of a session, as the data column has it.
type message struct {
	ID      string `json:"-"`
	Role    string `json:"role"`
	Finish  string `json:"finish"`
	ModelID string `json:"modelID"`
	Provide string `json:"providerID"`
	Model   struct {
		ProviderID string `json:"providerID"`
		ModelID    string `json:"modelID"`
		ID         string `json:"id"` // of OpenCode 2
	} `json:"model"`
	Path struct {
		CWD string `json:"cwd"`
	} `json:"path"`
	Tokens *tokens  `json:"tokens"`
	Cost   *float64 `json:"cost"`
	Time   struct {
		Created   millis `json:"created"`
		Completed millis `json:"completed"`
	} `json:"time"`
	Error *failure `json:"error"`
	// The following fields are those of OpenCode 2.
	Status string `json:"status"` // of a compaction
	Retry  *struct {
		Attempt int     `json:"attempt"`
		At      millis  `json:"at"`
		Error   failure `json:"error"`
	} `json:"retry"`

	updated millis // of its row
}

// failure is the error of a message.
type failure struct {
	Name string `json:"name"`
	Data struct {
		Message string `json:"message"`
	} `json:"data"`
	// The following fields are those of OpenCode 2.
	Type    string `json:"type"`
	Message string `json:"message"`
}

// abortedError is the name of the error with which an aborted turn ends.
const abortedError = "MessageAbortedError"

type tokens struct {
	Total     int64 `json:"total"`
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}

// used returns how much context a message filled.
func (t *tokens) used() int64 {
	if t.Total > 0 {
		return t.Total
	}
	return t.Input + t.Output + t.Reasoning + t.Cache.Read + t.Cache.Write
}

func (t *tokens) counts() adapters.Tokens {
	return adapters.Tokens{Input: t.Input, Output: t.Output, Reasoning: t.Reasoning, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write}
}

// millis is a time in milliseconds since the epoch; 0 is none.
type millis int64

// UnmarshalJSON also accepts fractions. Any other value counts as no time, so that a
// time in another form does not lose a message.
func (m *millis) UnmarshalJSON(b []byte) error {
	var f float64
	if json.Unmarshal(b, &f) == nil && f > 0 && f < 1e15 {
		*m = millis(f)
	}
	return nil
}

func (m millis) time() time.Time {
	if m <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(m))
}

// part is one part of a message.
type part struct {
	ID        string `json:"-"`
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"`
	Tool      string `json:"tool"`
	State     struct {
		Status   string          `json:"status"`
		Input    json.RawMessage `json:"input"`
		Output   string          `json:"output"`
		Title    string          `json:"title"`
		Error    string          `json:"error"`
		Metadata json.RawMessage `json:"metadata"`
		Time     begun           `json:"time"`
	} `json:"state"`
	Time begun `json:"time"`

	updated millis
}

// begun holds the time at which a part began.
type begun struct {
	Start millis `json:"start"`
}

// call is a tool part that has not ended.
type call struct {
	tool     string
	pending  bool // the model is still writing its input
	since    millis
	updated  millis
	metadata bool // it has begun, or shows something
	child    string
}

// call returns the fields of a tool part that are needed for a status.
func (p *part) call() call {
	c := call{tool: p.Tool, pending: p.State.Status == "pending", since: p.State.Time.Start, updated: p.updated}
	meta := bytes.TrimSpace(p.State.Metadata)
	c.metadata = len(meta) > 0 && !bytes.Equal(meta, []byte("null")) && !bytes.Equal(meta, []byte("{}"))
	if p.Tool == "task" && c.metadata {
		var of struct {
			SessionID string `json:"sessionId"`
		}
		if json.Unmarshal(meta, &of) == nil {
			c.child = of.SessionID
		}
	}
	return c
}

// facts holds what a store contains about one session.
type facts struct {
	id, parent, directory, title, version string

	created, updated millis

	model   string
	cwd     string
	tokens  *adapters.Tokens
	cost    float64
	context int64
	ledger  kit.SavedLedger
	logged  bool // ledger has all messages; of a database only with scope.usage

	firstPrompt, lastPrompt string
	prompted                millis // when the user wrote lastPrompt

	last        message // zero: no message yet
	assistant   message // the last of the assistant; zero: none
	calls       []call  // calls of assistant that have not ended
	partsUnread bool    // calls and assistant were not read
	tools       bool    // it has tool parts
	refused     bool    // the user refused one of its calls, which ends the turn
	activity    millis

	next     *next // of a session of OpenCode 2
	archived bool  // put away by the user, in the desktop application or by the API
	byRun    bool  // made by `opencode run`, which never asks the user
	files    []string
	skipped  map[string]int
	// skippedParts are counted only where readsParts, or a process runs the session: else it depends on who asks whether they were read.
	skippedParts map[string]int
}

// otherParts lists the kinds of parts that show nothing about the state of a session
// (1.1.65 to 1.18.33).
var otherParts = map[string]bool{"text": true, "reasoning": true, "file": true, "step-start": true, "step-finish": true,
	"snapshot": true, "patch": true, "agent": true, "retry": true, "compaction": true, "subtask": true}

// add adds a part of the assistant's last message to the facts.
func (f *facts) add(p *part, metadata bool) {
	if p.Type != "tool" {
		if !otherParts[p.Type] {
			f.skipPart("part of an unknown type")
		}
		return
	}
	f.tools = true
	switch p.State.Status {
	case "running", "pending":
		c := p.call()
		c.metadata = c.metadata || metadata
		f.calls = append(f.calls, c)
	case "error":
		f.refused = f.refused || refusal(p.State.Error)
	}
}

// refusal reports whether an error means that the user refused the call (1.1.65 to
// 1.18.33). If the user gave a reason, the model continues.
func refusal(text string) bool {
	switch {
	case strings.Contains(text, "with the following feedback"):
		return false
	case strings.Contains(text, "rejected permission"), strings.Contains(text, "dismissed this question"):
		return true
	}
	return strings.HasPrefix(text, "PermissionRejectedError") || strings.HasPrefix(text, "QuestionRejectedError")
}

// finish derives the facts that need several fields.
func (f *facts) finish() {
	f.model = cmp.Or(f.model, modelOf(f.assistant), modelOf(f.last))
	f.cwd = cmp.Or(f.directory, f.assistant.Path.CWD)
	f.activity = max(f.activity, f.updated, f.created, f.last.Time.Created, f.last.Time.Completed,
		f.assistant.Time.Created, f.assistant.Time.Completed)
	if f.last.Role == "assistant" && f.last.Time.Completed == 0 { // summaries are noted in an ended message
		f.activity = max(f.activity, f.last.updated)
	}
	if f.next != nil {
		f.activity = max(f.activity, f.next.idle)
	}
	for _, c := range f.calls {
		f.activity = max(f.activity, c.since, c.updated)
	}
	if t := f.assistant.Tokens; t != nil && t.used() > 0 {
		f.context = t.used()
	}
}

func modelOf(m message) string {
	provider, model := cmp.Or(m.Provide, m.Model.ProviderID), cmp.Or(m.ModelID, m.Model.ModelID, m.Model.ID)
	if provider == "" || model == "" {
		return model
	}
	return provider + "/" + model
}

// rowModel reads the model column of 1.14 and later.
func rowModel(column string) string {
	var m struct {
		ID       string `json:"id"`
		Provider string `json:"providerID"`
	}
	if json.Unmarshal([]byte(column), &m) != nil || m.ID == "" {
		return ""
	}
	return strings.TrimPrefix(m.Provider+"/"+m.ID, "/")
}

// madeByRun reads a session's permissions: `opencode run` denies the tools that ask
// (1.1.65 to 1.18.33).
func madeByRun(permission string) bool {
	var rules []struct {
		Permission string `json:"permission"`
		Action     string `json:"action"`
	}
	if json.Unmarshal([]byte(permission), &rules) != nil {
		return false
	}
	for _, r := range rules {
		if r.Permission == "question" && r.Action == "deny" {
			return true
		}
	}
	return false
}

var defaultTitle = regexp.MustCompile(`^(New|Child) session - \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z( \(fork #\d+\))?$`)

// ownTitle drops the default title, which OpenCode uses until the model has chosen one.
func ownTitle(title string) string {
	if defaultTitle.MatchString(strings.TrimSpace(title)) {
		return ""
	}
	return cut(strings.TrimSpace(title))
}

// unquotePrompt undoes what `opencode run` does to a prompt: it quotes an argument of several
// words, and before 1.18 adds a line break.
func unquotePrompt(text string) string {
	text = strings.TrimSpace(text)
	inner, ok := strings.CutPrefix(text, `"`)
	if !ok {
		return cut(text)
	}
	inner, ok = strings.CutSuffix(inner, `"`)
	bare := strings.ReplaceAll(inner, `\"`, "")
	if !ok || strings.HasSuffix(inner, `\`) || strings.Contains(bare, `"`) || !strings.ContainsAny(inner, " \n\t") {
		return cut(text)
	}
	return cut(strings.ReplaceAll(inner, `\"`, `"`))
}

// runPrompt returns the text that `opencode run` makes of its arguments.
func runPrompt(args []string) string {
	list := slices.Clone(args)
	for i, a := range list {
		if strings.Contains(a, " ") {
			list[i] = `"` + strings.ReplaceAll(a, `"`, `\"`) + `"`
		}
	}
	return strings.Join(list, " ")
}

// cut cuts a text to textLimit.
func cut(text string) string { return adapters.CutTo(text, textLimit) }
