package opencode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// permission is an entry of /permission (1.17 to 1.18.33).
type permission struct {
	ID         string          `json:"id"`
	Session    string          `json:"sessionID"`
	Permission string          `json:"permission"`
	Patterns   json.RawMessage `json:"patterns"`
	Metadata   json.RawMessage `json:"metadata"`
	Tool       struct {
		Message string `json:"messageID"`
		Call    string `json:"callID"`
	} `json:"tool"`
	input  json.RawMessage // the arguments of its call; nil: they are not known
	hidden bool            // what its call does is not known whole
	raw    json.RawMessage // as the server sent it
	// The following members are those of OpenCode 2. Its requests have no metadata.
	Action    string          `json:"action"`
	Resources json.RawMessage `json:"resources"`
	Source    struct {
		Call string `json:"callID"` // of the preview
		ID   string `json:"id"`     // of 2.0
	} `json:"source"`
}

// question is an entry of /question (1.17 to 1.18.33).
type question struct {
	ID        string `json:"id"`
	Session   string `json:"sessionID"`
	Questions []struct {
		Text    string            `json:"question"`
		Header  string            `json:"header"`
		Several bool              `json:"multiple"`
		Custom  *bool             `json:"custom"`
		Options []adapters.Option `json:"options"`
	} `json:"questions"`
	Fields []field `json:"fields"` // of a form of 2.0
	form   bool    // it is such a form
	raw    json.RawMessage
}

// field is a field of a form of 2.0. The tool "question" makes one of each question, whose options have their labels as values. What else
// a program can ask for with a form is only shown by OpenCode itself.
type field struct {
	Key     string          `json:"key"`
	Title   string          `json:"title"`
	Says    string          `json:"description"`
	Type    string          `json:"type"`
	When    json.RawMessage `json:"when"`
	Custom  bool            `json:"custom"`
	Options []struct {
		Value string `json:"value"`
		Label string `json:"label"`
		Says  string `json:"description"`
	} `json:"options"`
}

// question returns the question that a field asks. ok is false for a field that can't be filled in from here.
func (f *field) question() (q adapters.Question, ok bool) {
	if f.Key == "" || f.Type != "string" && f.Type != "multiselect" || f.When != nil {
		return q, false
	}
	q = adapters.Question{ID: f.Key, Header: f.Title, Text: cmp.Or(f.Says, f.Title), Several: f.Type == "multiselect", FreeText: f.Custom || len(f.Options) == 0}
	for _, o := range f.Options {
		if o.Value != o.Label {
			return q, false
		}
		q.Options = append(q.Options, adapters.Option{Label: o.Label, Says: o.Says})
	}
	return q, true
}

// Pending implements adapters.Answerer for sessions whose process has a server: `opencode
// serve`, `web`, and a terminal interface with --port.
func (a *Adapter) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	c, err := a.answerable(ctx, s)
	if err != nil {
		return nil, err
	}
	return c.pending(ctx, s)
}

// answerable returns a client for the server of a session.
func (a *Adapter) answerable(ctx context.Context, s adapters.Session) (*serverClient, error) {
	c, err := a.serverOf(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w (one that was started with --port can be answered)", adapters.ErrAnswerElsewhere, err)
	}
	return c, nil
}

// pending returns the requests of a session. The server's ids are used once.
func (c *serverClient) pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	var permissions []permission
	var asked []question
	var err error
	if c.next {
		permissions, asked, err = c.openNext(ctx, s.ID)
		if err == nil {
			err = c.addCalls(ctx, s.ID, permissions)
		}
	} else {
		permissions, asked, err = c.open(ctx, inFolder(s))
		c.addInputs(ctx, s, permissions)
	}
	if err != nil {
		return nil, c.problem(err)
	}
	var out []adapters.Request
	for i := range permissions {
		if p := &permissions[i]; p.Session == s.ID && p.ID != "" {
			out = append(out, p.request(s, c.product.server()))
		}
	}
	for i := range asked {
		if q := &asked[i]; q.Session == s.ID && q.ID != "" {
			out = append(out, q.request(s, c.product.server()))
		}
	}
	return out, nil
}

// problem returns the error of a server that did not respond as it should. No request was
// answered then.
func (c *serverClient) problem(err error) error {
	var listener *kit.ListenerError
	if errors.Is(err, errPassword) || errors.As(err, &listener) {
		return fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, c.serverProblem(err))
	}
	return c.serverProblem(err)
}

func (p *permission) request(s adapters.Session, where string) adapters.Request {
	r := adapters.Request{Agent: s.Agent, Session: s.ID, ID: p.ID, Folder: s.CWD, Where: where,
		Kind: adapters.AsksPermission, CanAllow: true, CanDeny: true, CanExplain: true, Options: []string{"once", "always", "reject"}}
	var meta struct {
		Command string      `json:"command"`
		Diff    string      `json:"diff"`
		File    string      `json:"filepath"`
		Files   []patchFile `json:"files"`
	}
	_ = json.Unmarshal(p.Metadata, &meta) // a member of another type leaves the others as they are
	if isShell[p.Permission] && p.input != nil {
		p.hidden = p.hidden || meta.Command != "" && meta.Command != agentfile.String(agentfile.Get(p.input, "command"))
		meta.Command = agentfile.String(agentfile.Get(p.input, "command"))
	}
	switch {
	case isShell[p.Permission] && meta.Command != "" && !p.hidden:
		p.command(&r)
	case p.Permission == "edit" && meta.Diff != "":
		r.Kind, r.Text = adapters.AsksFileChange, changeText(meta.File, meta.Diff, meta.Files)
		checkFiles(&r, meta.Files)
	default:
		// The patterns of a command do not show what cd and the operators of the shell do (1.1.65), so the command can only be denied.
		r.CanAllow = !isShell[p.Permission]
		shown := p.Metadata
		if saysNothing(shown) {
			shown = p.input
		} else if p.input != nil {
			r.Details = append(r.Details, adapters.Detail{Title: "Arguments of the call", Text: kit.Indented(p.input)})
		}
		r.Text = strings.TrimSpace(cmp.Or(p.Permission, "permission") + "\n" + kit.Indented(p.Patterns) + "\n" + kit.Indented(shown))
	}
	p.checkMembers(&r)
	return r
}

// command makes r the request to run a command. One with another argument than the folder in which it runs is shown with all of them.
func (p *permission) command(r *adapters.Request) {
	var input map[string]json.RawMessage
	arguments := p.input
	if arguments == nil {
		arguments = p.Metadata
	}
	_ = json.Unmarshal(arguments, &input) // it has a command
	if folder := agentfile.String(input["workdir"]); folder != "" {
		delete(input, "workdir")
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(r.Folder, folder)
		}
		r.Folder = folder
	}
	if kit.IsPlainCommand(input) {
		r.Kind, r.Text = adapters.AsksCommand, agentfile.String(input["command"])
	} else {
		r.Text = p.Permission + "\n" + kit.Indented(arguments)
	}
}

// saysNothing reports whether metadata has nothing in it.
func saysNothing(metadata json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(metadata, &object) == nil && len(object) == 0 || len(metadata) == 0
}

// addInputs adds to permissions what their calls would do: a permission to run a command does not say in which folder it runs, and one for a tool of an MCP
// server has nothing but the tool's name (1.18.33). A command whose call can't be read is marked as hidden.
func (c *serverClient) addInputs(ctx context.Context, s adapters.Session, permissions []permission) {
	for i := range permissions {
		p := &permissions[i]
		if p.Session != s.ID || p.Tool.Message == "" {
			continue
		}
		var message struct {
			Parts []struct {
				Call  string `json:"callID"`
				State struct {
					Input json.RawMessage `json:"input"`
				} `json:"state"`
			} `json:"parts"`
		}
		p.hidden = isShell[p.Permission]
		if c.get(ctx, "/session/"+url.PathEscape(s.ID)+"/message/"+url.PathEscape(p.Tool.Message)+inFolder(s), &message) != nil {
			continue
		}
		for _, part := range message.Parts {
			if part.Call == p.Tool.Call && !agentfile.Null(part.State.Input) {
				p.input, p.hidden = part.State.Input, false
			}
		}
	}
}

// isShell lists the permissions to run a command, which 2.0 calls "shell".
var isShell = map[string]bool{"bash": true, "shell": true}

func (q *question) request(s adapters.Session, where string) adapters.Request {
	r := adapters.Request{Agent: s.Agent, Session: s.ID, ID: q.ID, Folder: s.CWD, Where: where,
		Kind: adapters.AsksQuestion, CanDeny: true}
	var texts []string
	for _, one := range q.Questions {
		r.Questions = append(r.Questions, adapters.Question{Header: one.Header, Text: one.Text, Several: one.Several,
			FreeText: one.Custom == nil || *one.Custom, Options: one.Options})
		texts = append(texts, one.Text)
	}
	r.Text = strings.Join(texts, "\n")
	if q.form {
		q.asForm(&r)
	}
	questionMembers.Check(&r, "", q.raw)
	return r
}

// asForm adds the questions of a form to its request.
func (q *question) asForm(r *adapters.Request) {
	var texts []string
	for i := range q.Fields {
		one, ok := q.Fields[i].question()
		if !ok {
			texts, r.Questions = nil, nil
			break
		}
		r.Questions, texts = append(r.Questions, one), append(texts, one.Text)
	}
	r.Text = strings.Join(texts, "\n")
	if len(texts) == 0 {
		r.Where, r.Text = formName, "a form that only "+formName+" shows"
	}
}

// Answer implements adapters.Answerer. The server accepts one answer to an id, and refuses the
// second. A denial ends the turn unless it has a message. OpenCode denies the session's other
// requests together with the denied one (1.18.33).
func (a *Adapter) Answer(ctx context.Context, s adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	if err := d.Check(&shown); err != nil {
		return adapters.Result{}, err
	}
	c, err := a.answerable(ctx, s)
	if err != nil {
		return adapters.Result{}, err
	}
	list, err := c.pending(ctx, s)
	if err != nil {
		return adapters.Result{}, err
	}
	r, err := adapters.Match(list, &shown)
	if err != nil {
		return adapters.Result{}, err
	}
	path, content := reply(&r, d)
	path += inFolder(s)
	if c.next {
		path, content = c.replyNext(&r, d)
	}
	_, err = c.request(ctx, http.MethodPost, path, content)
	switch {
	case errors.Is(err, errNotFound):
		return adapters.Result{}, adapters.ErrNotPending
	case err != nil && !errors.Is(err, errPassword) && kit.WasSent(err):
		return adapters.Result{}, fmt.Errorf("%w: %w", adapters.ErrUnconfirmed, c.serverProblem(err))
	case err != nil:
		return adapters.Result{}, c.problem(err)
	}
	return adapters.Result{Confirmed: true, Evidence: c.product.server() + " took the answer to " + r.ID}, nil
}

// reply returns the call that gives a decision. "always" is never sent.
func reply(r *adapters.Request, d adapters.Decision) (path string, content any) {
	if r.Kind == adapters.AsksQuestion {
		path = "/question/" + url.PathEscape(r.ID)
		if d.Verdict == adapters.Deny {
			return path + "/reject", map[string]any{}
		}
		return path + "/reply", map[string]any{"answers": d.Answers}
	}
	answer := map[string]string{"reply": "reject"}
	if d.Verdict == adapters.AllowOnce {
		answer["reply"] = "once"
	} else if d.Message != "" {
		answer["message"] = d.Message
	}
	return "/permission/" + url.PathEscape(r.ID) + "/reply", answer
}

// Send implements adapters.Prompter, for sessions whose process has a server.
func (a *Adapter) Send(ctx context.Context, s adapters.Session, prompt string) error {
	c, err := a.prompted(ctx, s)
	if err != nil {
		return err
	}
	answer, err := c.ask(ctx, []string{s.CWD}, nil)
	if err != nil {
		return c.serverProblem(err)
	}
	if answer.names(s.ID) {
		return adapters.ErrBusy
	}
	return c.prompt(ctx, s, prompt, false)
}

// Queue implements adapters.Prompter: OpenCode starts with the prompt when the turn is over, or
// before its next step (1.18.33).
func (a *Adapter) Queue(ctx context.Context, s adapters.Session, prompt string) error {
	c, err := a.prompted(ctx, s)
	if err != nil {
		return err
	}
	return c.prompt(ctx, s, prompt, true)
}

func (a *Adapter) prompted(ctx context.Context, s adapters.Session) (*serverClient, error) {
	c, err := a.serverOf(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("%w; type the prompt %s, or resume it once it has stopped", err, s.Where())
	}
	return c, nil
}

func (c *serverClient) prompt(ctx context.Context, s adapters.Session, text string, queue bool) error {
	if c.next {
		if err := c.promptNext(ctx, s.ID, text, queue); err != nil {
			return c.serverProblem(err)
		}
		return nil
	}
	content := map[string]any{"parts": []map[string]string{{"type": "text", "text": text}}}
	if _, err := c.request(ctx, http.MethodPost, "/session/"+url.PathEscape(s.ID)+"/prompt_async"+inFolder(s), content); err != nil {
		return c.serverProblem(err)
	}
	return nil
}
