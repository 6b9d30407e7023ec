package kit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/schema"
)

// ACP is an agent that speaks the Agent Client Protocol, version 1, over its standard input and output: one message of JSON-RPC 2.0 per line.
// Rollcall offers the agent neither files nor terminals, so that it uses its own.
type ACP struct {
	Agent adapters.Name
	Where string // the agent's title, for Request.Where
	Once  string // the option that allows once where several do; empty: the first
	// Questions returns the questions that a call asks; false: it asks for a permission. Their answers are given beside the option that allows
	// once, by the questions' ids. nil: no call asks any.
	Questions func(call []byte) (list []adapters.Question, asks bool)
	// Choices returns the question to which the options that allow once are the answers; false: they allow the call. nil: no call asks so.
	Choices func(call []byte, options []ACPOption) (q adapters.Question, asks bool)
	// Apart reports that the arguments of a call come before the request, in an update of their own. Without them a call can only be denied.
	Apart bool
	// Check checks the members of a call that only this agent has, such as those of its questions; nil: there are none.
	Check func(call []byte, r *adapters.Request)
}

// meta are notes for clients, which have no effect by the protocol's own word.
var meta = schema.Ignored("notes for clients, without an effect")

// acpMembers are those of RequestPermissionRequest of the Agent Client Protocol, version 1 (its schema in Gemini CLI 0.61.0 and Qwen Code 0.24.4).
var acpMembers = schema.Table{
	"_meta":     meta,
	"sessionId": schema.Named,
	"options": schema.Object(schema.Table{"_meta": meta, "optionId": schema.Named, "name": schema.Shown, "kind": schema.Named,
		"description": schema.Ignored("explains the option")}),
	"toolCall": schema.Object(schema.Table{
		"_meta":      meta,
		"toolCallId": schema.Named,
		"title":      schema.Shown,
		"kind":       schema.Shown,
		"status":     schema.Ignored("that it waits"),
		"content":    schema.Whole, // see diffMembers
		"locations":  schema.Beside("Files"),
		"rawInput":   schema.Whole,
		"rawOutput":  schema.Ignored("there is none before it runs"),
	}),
}

// diffMembers are those of a change in the content of a call.
var diffMembers = schema.Table{"_meta": meta, "type": schema.Named, "path": schema.Shown, "oldText": schema.Shown, "newText": schema.Shown}

// isOneDiff reports whether the content of a call is one change, which is shown as lines.
func isOneDiff(content []byte) (diff []byte, ok bool) {
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil || len(parts) != 1 || string(agentfile.Text(agentfile.Get(parts[0], "type"))) != "diff" {
		return nil, false
	}
	return parts[0], true
}

// The ids of the messages that open a session. An id that begins with acpLoad ends with the id of the session.
const (
	acpInitialize = "rollcall-initialize"
	acpNew        = "rollcall-new"
	acpLoad       = "rollcall-load:"
)

// acpTaken ends the id of the message that follows a prompt. It is a method that no agent has: the reply, an error, comes once the agent has taken
// the prompt, whose own reply comes at the end of the turn.
const acpTaken = ".taken"

type acpMessage struct {
	Version string         `json:"jsonrpc"`
	ID      any            `json:"id,omitempty"`
	Method  string         `json:"method,omitempty"`
	Params  any            `json:"params,omitempty"`
	Result  map[string]any `json:"result,omitempty"`
}

// acpLines returns messages, one a line, without a line break at the end.
func acpLines(messages ...acpMessage) []byte {
	var lines [][]byte
	for _, m := range messages {
		m.Version = "2.0"
		line, _ := json.Marshal(m) // texts and raw JSON of the agent's can always be marshalled
		lines = append(lines, line)
	}
	return bytes.Join(lines, []byte{'\n'})
}

// Stdin returns what the process reads first: the messages that open the session of a task, or continue Task.Resume.
func (a *ACP) Stdin(t *adapters.Task) string {
	open := acpMessage{ID: acpNew, Method: "session/new", Params: map[string]any{"cwd": t.Dir, "mcpServers": []any{}}}
	if t.Resume != "" {
		open = acpMessage{ID: acpLoad + t.Resume, Method: "session/load", Params: map[string]any{"sessionId": t.Resume, "cwd": t.Dir, "mcpServers": []any{}}}
	}
	return string(acpLines(acpMessage{ID: acpInitialize, Method: "initialize", Params: map[string]any{"protocolVersion": 1, "clientCapabilities": struct{}{}}}, open)) + "\n"
}

// Talk returns a conversation with a process whose input began with Stdin. It implements adapters.Opener.
func (a *ACP) Talk() adapters.Talk {
	return &acpTalk{agent: *a, updates: map[string]acpUpdate{}, withdrawn: map[string]bool{}, answered: map[string]bool{}, replies: map[string]error{}}
}

type acpTalk struct {
	agent     ACP
	session   string
	failed    error // why there is no session
	asked     []acpRequest
	updates   map[string]acpUpdate // of calls, with Apart
	withdrawn map[string]bool
	answered  map[string]bool
	replies   map[string]error // by the order
	working   bool
	turns     int
	ended     adapters.Outcome
}

// acpUpdate is what an agent said of a call before it asks, with ACP.Apart.
type acpUpdate struct{ title, kind, args []byte }

// acpRequest is a request for a permission that waits. Its call is kept as the agent sent it.
type acpRequest struct {
	id     json.RawMessage
	raw    json.RawMessage // the parameters as they were received
	update acpUpdate
	params struct {
		Call    json.RawMessage `json:"toolCall"`
		Options []ACPOption     `json:"options"`
	}
}

// ACPOption is a decision that an agent offers on a request.
type ACPOption struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`  // allow_once, allow_always, reject_once, reject_always
	Says string `json:"label"` // the name, as `qwen serve` has it (0.24.4)
}

// Read implements adapters.Talk.
func (t *acpTalk) Read(line []byte) {
	method, id := agentfile.String(agentfile.Get(line, "method")), agentfile.Get(line, "id")
	switch {
	case method == "session/request_permission" && !agentfile.Null(id):
		r := acpRequest{id: slices.Clone(id), raw: slices.Clone(agentfile.Get(line, "params"))}
		if json.Unmarshal(r.raw, &r.params) == nil {
			if u := t.updates[r.call()]; bytes.Equal(u.title, agentfile.Get(r.params.Call, "title")) { // else another call has the id
				r.update = u
			}
			t.asked = append(t.asked, r)
		}
	case method == "session/update":
		update := agentfile.Get(line, "params", "update")
		if t.agent.Apart {
			t.updated(agentfile.String(agentfile.Get(update, "toolCallId")), update)
		}
		if status := string(agentfile.Text(agentfile.Get(update, "status"))); status == "completed" || status == "failed" {
			call := agentfile.String(agentfile.Get(update, "toolCallId"))
			t.drop(func(r *acpRequest) bool { return call != "" && r.call() == call })
		}
	case method == "":
		t.reply(agentfile.String(id), line)
	}
}

// updated keeps what the agent says of a call before it asks. It may send the arguments as a text that grows: only the last one counts.
func (t *acpTalk) updated(call string, update []byte) {
	u := t.updates[call]
	for name, kept := range map[string]*[]byte{"title": &u.title, "kind": &u.kind} {
		if said := agentfile.Get(update, name); !agentfile.Null(said) {
			*kept = slices.Clone(said)
		}
	}
	args, content := agentfile.Get(update, "rawInput"), agentfile.Get(update, "content")
	switch text := []byte(ACPText(content)); {
	case !agentfile.Null(args):
		u.args = slices.Clone(args)
	case len(text) > 0 && text[0] == '{' && json.Valid(text): // the whole of it
		u.args = text
	case !agentfile.Null(content):
		u.args = nil
	}
	t.updates[call] = u
}

// ACPText returns the texts of the content of a call. It is empty if anything else is there.
func ACPText(content []byte) string {
	var texts []string
	var parts []json.RawMessage
	_ = json.Unmarshal(content, &parts) // another form has no texts
	for _, part := range parts {
		text := agentfile.Get(part, "content", "text")
		if agentfile.Null(text) {
			return ""
		}
		texts = append(texts, agentfile.String(text))
	}
	return strings.Join(texts, "\n")
}

func (r *acpRequest) call() string {
	return agentfile.String(agentfile.Get(r.params.Call, "toolCallId"))
}

// drop removes requests. One that was not answered counts as withdrawn.
func (t *acpTalk) drop(which func(*acpRequest) bool) {
	t.asked = slices.DeleteFunc(t.asked, func(r acpRequest) bool {
		gone := which(&r)
		if gone {
			t.withdrawn[string(r.id)] = !t.answered[string(r.id)]
		}
		return gone
	})
}

// reply takes the reply to one of Rollcall's own messages.
func (t *acpTalk) reply(id string, line []byte) {
	var err error
	if problem := agentfile.Get(line, "error"); !agentfile.Null(problem) {
		err = errors.New(cmp.Or(agentfile.String(agentfile.Get(problem, "data", "details")), agentfile.String(agentfile.Get(problem, "message")), string(problem)))
	}
	order, taken := strings.CutSuffix(id, acpTaken)
	switch {
	case id == "":
	case id == acpInitialize || id == acpNew || strings.HasPrefix(id, acpLoad):
		t.opened(id, line, err)
	case taken:
		if _, over := t.replies[order]; !over {
			t.replies[order] = nil
			t.working, t.turns = true, t.turns+1
		}
	default: // the reply to a prompt: its turn is over
		t.replies[id], t.working = err, false
		clear(t.updates)
		t.ended = map[string]adapters.Outcome{"end_turn": adapters.Completed, "cancelled": adapters.Interrupted}[agentfile.String(agentfile.Get(line, "result", "stopReason"))]
		if err != nil {
			t.ended = adapters.Failed
		}
		t.drop(func(*acpRequest) bool { return true })
	}
}

func (t *acpTalk) opened(id string, line []byte, err error) {
	resumed, isLoad := strings.CutPrefix(id, acpLoad)
	switch {
	case err != nil:
		t.failed = cmp.Or(t.failed, err)
	case isLoad:
		t.session = resumed
	case id == acpNew:
		t.session = agentfile.String(agentfile.Get(line, "result", "sessionId"))
	}
}

// Opened implements adapters.Opener.
func (t *acpTalk) Opened() (session string, err error) { return t.session, t.failed }

// Working implements adapters.Talk.
func (t *acpTalk) Working() bool { return t.working }

// Ended implements adapters.TurnEnder.
func (t *acpTalk) Ended() adapters.Outcome { return t.ended }

// Turns implements adapters.Talk.
func (t *acpTalk) Turns() int { return t.turns }

// Withdrawn implements adapters.Talk.
func (t *acpTalk) Withdrawn(id string) bool { return t.withdrawn[id] }

// Replied implements adapters.Talk.
func (t *acpTalk) Replied(order string) (done bool, err error) {
	err, done = t.replies[order]
	return done, err
}

// Prompt implements adapters.Talk. An agent that gets a second prompt during a turn ends that turn (Gemini CLI 0.61.0), so there is no line then.
func (t *acpTalk) Prompt(order, text string, _ bool) []byte {
	if t.session == "" || t.working {
		return nil
	}
	return acpLines(acpMessage{ID: order, Method: "session/prompt", Params: map[string]any{
		"sessionId": t.session, "prompt": []any{map[string]string{"type": "text", "text": text}}}},
		acpMessage{ID: order + acpTaken, Method: "_rollcall/taken", Params: struct{}{}})
}

// Interrupt implements adapters.Talk. The protocol asks the client to answer what waits, too.
func (t *acpTalk) Interrupt(string) []byte {
	lines := []acpMessage{{Method: "session/cancel", Params: map[string]string{"sessionId": t.session}}}
	for i := range t.asked {
		lines = append(lines, acpAnswer(&t.asked[i], map[string]string{"outcome": "cancelled"}))
	}
	return acpLines(lines...)
}

func acpAnswer(r *acpRequest, outcome map[string]string) acpMessage {
	return acpMessage{ID: r.id, Result: map[string]any{"outcome": outcome}}
}

// AsQuestion makes a request for a permission one for answers to questions. Without questions it can only be denied.
func AsQuestion(r *adapters.Request, list []adapters.Question) {
	r.Kind = adapters.AsksQuestion
	r.Questions = list
	r.CanAllow = false
	r.Options = nil
	var texts []string
	for _, q := range list {
		texts = append(texts, q.Text)
	}
	r.Text = strings.Join(texts, "\n")
}

// Answers returns the answers to the questions of a request by their ids.
func Answers(r *adapters.Request, d adapters.Decision) map[string]string {
	out := map[string]string{}
	for i, given := range d.Answers {
		out[r.Questions[i].ID] = strings.Join(given, ", ")
	}
	return out
}

// Waiting implements adapters.Talk.
func (t *acpTalk) Waiting() []adapters.Request {
	out := make([]adapters.Request, 0, len(t.asked))
	for i := range t.asked {
		out = append(out, t.asked[i].request(&t.agent))
	}
	return out
}

// Option returns the id of the option that allows or denies once, or takes answers; "" if there is none.
func (a *ACP) Option(options []ACPOption, v adapters.Verdict) (id string) {
	kind := map[adapters.Verdict]string{adapters.AllowOnce: "allow_once", adapters.Reply: "allow_once", adapters.Deny: "reject_once"}[v]
	for _, o := range options {
		if o.Kind == kind && (id == "" || o.ID == a.Once) {
			id = o.ID
		}
	}
	return id
}

func (r *acpRequest) request(a *ACP) adapters.Request {
	out := a.Request(string(r.id), r.member, r.params.Options)
	if a.Apart && agentfile.Null(r.member("rawInput")) {
		out.CanAllow = false
	}
	if a.Choices != nil {
		if q, asks := a.Choices(r.params.Call, r.params.Options); asks {
			AsQuestion(&out, []adapters.Question{q})
		}
	}
	if a.Questions != nil {
		if list, asks := a.Questions(r.params.Call); asks {
			AsQuestion(&out, list)
		}
	}
	if a.Check != nil {
		a.Check(r.params.Call, &out)
	}
	acpMembers.Check(&out, "", r.raw)
	return out
}

// member returns a member of the call, or that of the update before it.
func (r *acpRequest) member(name string) []byte {
	own := agentfile.Get(r.params.Call, name)
	switch {
	case !agentfile.Null(own):
	case name == "rawInput":
		return r.update.args
	case name == "kind":
		return r.update.kind
	}
	return own
}

// Request returns a request for a permission with the options that its call offers. get returns a member of the call.
func (a *ACP) Request(id string, get func(member string) []byte, options []ACPOption) adapters.Request {
	out := adapters.Request{Agent: a.Agent, ID: id, Kind: adapters.AsksPermission, Where: a.Where,
		CanAllow: a.Option(options, adapters.AllowOnce) != "", CanDeny: a.Option(options, adapters.Deny) != ""}
	for _, o := range options {
		out.Options = append(out.Options, cmp.Or(o.Name, o.Says))
	}
	raw, title := get("rawInput"), agentfile.String(get("title"))
	var input map[string]json.RawMessage
	if json.Unmarshal(raw, &input) != nil || input == nil {
		input = map[string]json.RawMessage{}
	}
	if len(input) == 0 && !agentfile.Null(raw) { // another form is shown as it is
		input["input"] = raw
	}
	kind := string(agentfile.Text(get("kind")))
	if IsPlainCommand(input) && (kind == "" || kind == "execute") { // another tool can have the same arguments
		out.Kind, out.Text = adapters.AsksCommand, agentfile.String(input["command"])
		if content := get("content"); !agentfile.Null(content) && string(content) != "[]" { // Qwen Code 0.24.4 warns there
			out.Details = append(out.Details, adapters.Detail{Title: "Shown by the agent", Text: cmp.Or(ACPText(content), string(content))})
		}
		return out
	}
	if kind == "edit" {
		out.Kind = adapters.AsksFileChange
	}
	if diff, ok := isOneDiff(get("content")); ok && len(input) == 0 {
		diffMembers.Check(&out, "toolCall.content[]", diff)
	}
	addContent(input, get("content"))
	out.Text = title
	if len(input) > 0 {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		_ = enc.Encode(input) // what was parsed can be written
		out.Text = strings.TrimSpace(title + "\n" + text.String())
	}
	out.CanAllow = out.CanAllow && out.Text != "" // nothing shows what would be allowed
	return out
}

// IsPlainCommand reports whether the arguments of a call are a command with its description and its timeout. Another argument, such as one that
// leaves the sandbox, must be seen by the person who decides.
func IsPlainCommand(input map[string]json.RawMessage) bool {
	for name := range input {
		if !slices.Contains([]string{"command", "description", "timeout"}, name) {
			return false
		}
	}
	return agentfile.String(input["command"]) != ""
}

// addContent adds what a call shows beside its arguments. One change of a file gets the names under which changes are shown as lines.
func addContent(input map[string]json.RawMessage, content []byte) {
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil || len(parts) == 0 {
		return
	}
	if diff, ok := isOneDiff(content); ok && len(input) == 0 {
		for name, member := range map[string]string{"file_path": "path", "old_string": "oldText", "new_string": "newText"} {
			input[name] = agentfile.Get(diff, member)
			if agentfile.Null(input[name]) {
				input[name] = json.RawMessage(`""`)
			}
		}
		return
	}
	input["content"] = content
}

// Answer implements adapters.Talk. Only options that hold once are chosen.
func (t *acpTalk) Answer(id string, d adapters.Decision) ([]byte, error) {
	i := slices.IndexFunc(t.asked, func(r acpRequest) bool { return string(r.id) == id })
	if i < 0 {
		return nil, adapters.ErrNotPending
	}
	r := &t.asked[i]
	shown := r.request(&t.agent)
	if err := d.Check(&shown); err != nil {
		return nil, err
	}
	t.answered[id] = true // the call of one that is denied fails at once
	option, isChoice := t.agent.Option(r.params.Options, d.Verdict), false
	if t.agent.Choices != nil && d.Verdict == adapters.Reply {
		i := slices.IndexFunc(r.params.Options, func(o ACPOption) bool { return o.Kind == "allow_once" && o.Name == d.Answers[0][0] })
		option, isChoice = r.params.Options[i].ID, true // Check has found it
	}
	m := acpAnswer(r, map[string]string{"outcome": "selected", "optionId": option})
	if d.Verdict == adapters.Reply && !isChoice {
		m.Result["answers"] = Answers(&shown, d)
	}
	return acpLines(m), nil
}
