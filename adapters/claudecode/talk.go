package claudecode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Talk implements adapters.Piped for `claude -p --input-format stream-json` with the option
// --permission-prompt-tool stdio (2.1.329).
func (a *Adapter) Talk() adapters.Talk {
	return &talk{withdrawn: map[string]bool{}, replies: map[string]error{}}
}

// talk is a conversation over stream-json.
type talk struct {
	asked     []controlRequest // that wait
	withdrawn map[string]bool
	replies   map[string]error // by the id of our own control request
	working   bool
	turns     int
}

// controlRequest is a request for a permission, an answer or the approval of a plan.
type controlRequest struct {
	raw     json.RawMessage // the message as it was received; nil: the call is one of a transcript
	ID      string          `json:"request_id"`
	Request struct {
		Subtype     string          `json:"subtype"`
		Tool        string          `json:"tool_name"`
		Input       json.RawMessage `json:"input"`
		Call        string          `json:"tool_use_id"`
		Reason      string          `json:"decision_reason"`
		Description string          `json:"description"`
	} `json:"request"`
}

// Read implements adapters.Talk.
func (t *talk) Read(line []byte) {
	switch string(agentfile.Text(agentfile.Get(line, "type"))) {
	case "system":
		if string(agentfile.Text(agentfile.Get(line, "subtype"))) == "init" { // one for each turn
			t.working, t.turns = true, t.turns+1
		}
	case "result":
		t.working = false // a request of a sub-agent in the background still waits
	case "control_request":
		var r controlRequest
		if json.Unmarshal(line, &r) == nil && r.ID != "" && r.Request.Subtype == "can_use_tool" {
			r.raw = slices.Clone(line)
			t.asked = append(t.asked, r)
		}
	case "control_cancel_request":
		id := agentfile.String(agentfile.Get(line, "request_id"))
		if t.drop(func(r controlRequest) bool { return r.ID == id }) {
			t.withdrawn[id] = true
		}
	case "control_response":
		t.reply(line)
	case "user":
		t.results(line)
	}
}

func (t *talk) reply(line []byte) {
	response := agentfile.Get(line, "response")
	var err error
	if string(agentfile.Text(agentfile.Get(response, "subtype"))) != "success" {
		err = errors.New(agentfile.String(agentfile.Get(response, "error")))
	}
	t.replies[agentfile.String(agentfile.Get(response, "request_id"))] = err
}

// results drops the requests whose call has a result.
func (t *talk) results(line []byte) {
	if len(t.asked) == 0 || !bytes.Contains(line, []byte("tool_result")) {
		return
	}
	kit.Each(agentfile.Get(line, "message", "content"), func(block []byte) {
		call := agentfile.String(agentfile.Get(block, "tool_use_id"))
		t.drop(func(r controlRequest) bool { return call != "" && r.Request.Call == call })
	})
}

// drop removes requests, and reports whether there were any.
func (t *talk) drop(which func(controlRequest) bool) bool {
	n := len(t.asked)
	t.asked = slices.DeleteFunc(t.asked, which)
	return len(t.asked) < n
}

// Working implements adapters.Talk.
func (t *talk) Working() bool { return t.working }

// Turns implements adapters.Talk.
func (t *talk) Turns() int { return t.turns }

// Withdrawn implements adapters.Talk.
func (t *talk) Withdrawn(id string) bool { return t.withdrawn[id] }

// Replied implements adapters.Talk. Prompts have no reply.
func (t *talk) Replied(order string) (done bool, err error) {
	err, done = t.replies[order]
	return done, err
}

// Waiting implements adapters.Talk.
func (t *talk) Waiting() []adapters.Request {
	out := make([]adapters.Request, 0, len(t.asked))
	for i := range t.asked {
		out = append(out, t.asked[i].request())
	}
	return out
}

// questionTool and planTool are the names of the tools that ask a question and show a plan.
const (
	questionTool = "AskUserQuestion"
	planTool     = "ExitPlanMode"
)

func (c *controlRequest) request() adapters.Request {
	r := adapters.Request{Agent: Name, ID: c.ID, Kind: adapters.AsksPermission, CanAllow: true, CanDeny: true, CanExplain: true,
		Where: "Claude Code", Options: []string{"allow", "deny"}, Reason: c.Request.Reason}
	members := map[string]json.RawMessage{}
	_ = json.Unmarshal(c.Request.Input, &members)
	r.Text = strings.TrimSpace(c.Request.Tool + "\n" + kit.Indented(c.Request.Input))
	switch tool := c.Request.Tool; {
	case tool == questionTool:
		r.Kind = adapters.AsksQuestion
		r.CanAllow = false
		r.Options = nil
		r.Questions, r.Text = questions(members["questions"], r.Text)
	case tool == bashTool && kit.IsPlainCommand(members):
		r.Kind, r.Text = adapters.AsksCommand, agentfile.String(members["command"])
	case tool == planTool:
		r.Kind, r.Text = adapters.AsksPlan, planText(members)
	case slices.Contains(fileTools, tool):
		r.Kind = adapters.AsksFileChange
	}
	if c.raw != nil {
		requestMembers.Check(&r, "", c.raw)
	}
	if r.Questions != nil {
		questionMembers.Check(&r, "input", c.Request.Input)
	}
	return r
}

// lastingRights is the member of a plan with commands that would be allowed from then on (2.1.329).
const lastingRights = "allowedPrompts"

// planText returns a plan and the other members of the call, except lastingRights, which are never granted.
func planText(input map[string]json.RawMessage) string {
	other := maps.Clone(input)
	delete(other, lastingRights)
	plan := agentfile.String(input["plan"])
	if plan != "" {
		delete(other, "plan")
	}
	if len(other) > 0 || plan == "" {
		rest, _ := json.MarshalIndent(other, "", "  ") // its members are JSON
		plan = strings.TrimSpace(plan + "\n\n" + string(rest))
	}
	return plan
}

// question is a question of questionTool (2.1.329).
type question struct {
	Text    string            `json:"question"`
	Header  string            `json:"header"`
	Several bool              `json:"multiSelect"`
	Options []adapters.Option `json:"options"`
}

// questions returns the questions of a call, and their texts. For a call that it can't parse it returns no questions and the text other: such a call can only
// be denied.
func questions(raw json.RawMessage, other string) (out []adapters.Question, text string) {
	var list []question
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return nil, other
	}
	var texts []string
	seen := map[string]bool{}
	for _, q := range list {
		if q.Text == "" || seen[q.Text] { // the text identifies the question in the answers, so it must be unique
			return nil, other
		}
		seen[q.Text] = true
		n := adapters.Question{Header: q.Header, Text: q.Text, Several: q.Several, FreeText: true, Options: q.Options}
		out, texts = append(out, n), append(texts, q.Text)
	}
	return out, strings.Join(texts, "\n")
}

// Answer implements adapters.Talk. The input that is allowed is the one that was shown; permission_suggestions and
// lastingRights, which would last, are never sent back.
func (t *talk) Answer(id string, d adapters.Decision) ([]byte, error) {
	i := slices.IndexFunc(t.asked, func(r controlRequest) bool { return r.ID == id })
	if i < 0 {
		return nil, adapters.ErrNotPending
	}
	c := &t.asked[i]
	r := c.request()
	if err := d.Check(&r); err != nil {
		return nil, err
	}
	decision := map[string]any{"behavior": "allow", "updatedInput": c.Request.Input}
	switch d.Verdict {
	case adapters.AllowOnce:
		if r.Kind == adapters.AsksPlan {
			input := map[string]json.RawMessage{}
			if err := json.Unmarshal(c.Request.Input, &input); err != nil {
				return nil, fmt.Errorf("%w: %w", adapters.ErrNoSuchAnswer, err)
			}
			delete(input, lastingRights)
			decision["updatedInput"] = input
		}
	case adapters.Deny:
		decision = map[string]any{"behavior": "deny", "message": cmp.Or(d.Message, "The user does not allow this.")}
	case adapters.Reply:
		input := map[string]any{}
		if err := json.Unmarshal(c.Request.Input, &input); err != nil {
			return nil, fmt.Errorf("%w: %w", adapters.ErrNoSuchAnswer, err)
		}
		answers := map[string]string{}
		for n, q := range r.Questions {
			answers[q.Text] = strings.Join(d.Answers[n], ", ")
		}
		input["answers"] = answers
		decision["updatedInput"] = input
	}
	return json.Marshal(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": id, "response": decision}})
}

// Prompt implements adapters.Talk. Claude Code starts with a prompt at once, or before its next step if it works (2.1.329).
func (t *talk) Prompt(_, text string, _ bool) []byte { return inputLine(text) }

func inputLine(text string) []byte {
	line, _ := json.Marshal(map[string]any{"type": "user", "message": map[string]any{ // a text can always be marshalled
		"role": "user", "content": []any{map[string]string{"type": "text", "text": text}}}})
	return line
}

// Interrupt implements adapters.Talk.
func (t *talk) Interrupt(order string) []byte {
	line, _ := json.Marshal(map[string]any{"type": "control_request", "request_id": order, "request": map[string]string{"subtype": "interrupt"}})
	return line
}
