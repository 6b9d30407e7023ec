package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/store"
)

// Programs implements adapters.Programs. The programs run in Rollcall's state folder.
type Programs struct{}

// Rows implements adapters.Programs.
func (Programs) Rows(ctx context.Context, u *adapters.Unread) ([]adapters.ProgramRow, error) {
	p, err := programOf(u, u.Rows)
	if err != nil {
		return nil, err
	}
	return p.Rows(ctx)
}

// Requests implements adapters.Programs.
func (Programs) Requests(ctx context.Context, u *adapters.Unread) ([]adapters.Request, error) {
	p, err := programOf(u, u.Requests)
	if err != nil {
		return nil, err
	}
	return p.Requests(ctx)
}

// Answer implements adapters.Programs.
func (Programs) Answer(ctx context.Context, u *adapters.Unread, r *adapters.Request, d adapters.Decision) (adapters.Result, error) {
	p, err := programOf(u, u.Answer)
	if err != nil {
		return adapters.Result{}, err
	}
	return p.Answer(ctx, r, d)
}

func programOf(u *adapters.Unread, command []string) (*Program, error) {
	state, err := store.StatePath()
	return &Program{Agent: u.Name, Command: command, Dir: state}, err
}

// maxRequests is more than the sessions of an agent ask at one time.
const maxRequests = 200

// Requests runs the program, and returns the requests that it lists, with the ids of sessions as they are shown here. Their texts are unchanged: what shows
// them makes everything visible. Any request that can't be used makes an error, since it may hide something.
func (p *Program) Requests(ctx context.Context) (list []adapters.Request, err error) {
	complete := false
	err = p.run(ctx, nil, func(l *line) error {
		switch {
		case l.Event == "roll":
			complete = true
			return errDone
		case l.Event != "request":
			return nil
		case len(list) == maxRequests:
			return fmt.Errorf("it lists more than %d requests", maxRequests)
		}
		r, err := p.request(l.Request)
		if err != nil {
			return fmt.Errorf("request %d can't be used: %w", len(list)+1, err)
		}
		if slices.ContainsFunc(list, func(o adapters.Request) bool { return o.Session == r.Session && o.ID == r.ID }) {
			return fmt.Errorf("two requests of a session have the id %q", r.ID)
		}
		list = append(list, r)
		return nil
	})
	if complete {
		return list, nil
	}
	return nil, err
}

// RequestJSON is a request in the stream of a Program.
type RequestJSON struct {
	Session    string               `json:"session"`
	Agent      adapters.Name        `json:"agent"`
	ID         string               `json:"id"`
	Kind       adapters.RequestKind `json:"kind"`
	Text       string               `json:"text"`
	Reason     string               `json:"reason"`
	Folder     string               `json:"folder"`
	Details    []detailJSON         `json:"details"`
	Options    []string             `json:"options"`
	Questions  []questionJSON       `json:"questions"`
	AskedAt    string               `json:"asked_at"`
	ExpiresAt  string               `json:"expires_at"`
	CanAllow   bool                 `json:"can_allow"`
	CanDeny    bool                 `json:"can_deny"`
	CanExplain bool                 `json:"can_explain"`
}

type detailJSON struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

type questionJSON struct {
	ID       string            `json:"id"`
	Header   string            `json:"header"`
	Text     string            `json:"text"`
	Options  []adapters.Option `json:"options"`
	Several  bool              `json:"several"`
	FreeText bool              `json:"free_text"`
	Secret   bool              `json:"secret"`
}

// request reads a request. A member that it does not know is named in Unknown, so that the request can only be denied.
func (p *Program) request(raw json.RawMessage) (r adapters.Request, err error) {
	var w RequestJSON
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields()
	err = strict.Decode(&w)
	if err != nil {
		name, isUnknown := strings.CutPrefix(err.Error(), "json: unknown field ")
		w = RequestJSON{}
		if err := json.Unmarshal(raw, &w); err != nil || !isUnknown {
			return r, errors.New("it has another form than docs/adapters-of-others.md says")
		}
		r.Unknown = []string{strings.Trim(name, `"`)}
	}
	switch {
	case w.Agent != "" && w.Agent != p.Agent:
		return r, fmt.Errorf("it is one of another agent (%s)", oneLine(string(w.Agent)))
	case !validID(w.Session):
		return r, errors.New("it names no session")
	case !validID(w.ID):
		return r, errors.New("it has no id")
	case w.Text == "" && len(w.Questions) == 0:
		return r, errors.New("it has no text, so nothing shows what is decided on")
	}
	r.Agent = p.Agent
	r.Session = app.MachineID(string(p.Agent), w.Session)
	r.ID = w.ID
	r.Kind = w.Kind
	r.Text = w.Text
	r.Reason = w.Reason
	r.Folder = w.Folder
	r.Options = w.Options
	r.AskedAt = clockOf(w.AskedAt, 0)
	r.ExpiresAt = clockOf(w.ExpiresAt, 0)
	r.CanAllow = w.CanAllow && len(w.Questions) == 0
	r.CanDeny = w.CanDeny
	r.CanExplain = w.CanExplain
	for _, d := range w.Details {
		r.Details = append(r.Details, adapters.Detail(d))
	}
	for _, q := range w.Questions {
		r.Questions = append(r.Questions, adapters.Question(q))
	}
	return r, checkKind(&r)
}

// checkKind makes a request of a kind that is not known one that can only be denied, and gives a question without a text that of its questions.
func checkKind(r *adapters.Request) error {
	known := []adapters.RequestKind{adapters.AsksCommand, adapters.AsksFileChange, adapters.AsksPermission, adapters.AsksPlan, adapters.AsksQuestion}
	if !slices.Contains(known, r.Kind) {
		r.Unknown = append(r.Unknown, "kind "+oneLine(string(r.Kind)))
		r.Kind = adapters.AsksPermission
	}
	if (r.Kind == adapters.AsksQuestion) != (len(r.Questions) > 0) {
		return errors.New("a request of the kind question has questions, and no other has")
	}
	if r.Text == "" {
		var lines []string
		for _, q := range r.Questions {
			lines = append(lines, q.Text)
		}
		r.Text = strings.Join(lines, "\n")
	}
	return nil
}

// answerJSON is what a program of answers reads: one line on its standard input.
type answerJSON struct {
	Schema int    `json:"schema"`
	Event  string `json:"event"`
	Answer struct {
		Session string           `json:"session"`
		ID      string           `json:"id"`
		Text    string           `json:"text"` // as it was shown
		Verdict adapters.Verdict `json:"verdict"`
		Message string           `json:"message,omitempty"`
		Answers [][]string       `json:"answers,omitempty"`
	} `json:"answer"`
}

// answeredJSON is what a program of answers says of an answer.
type answeredJSON struct {
	Session  string `json:"session"`
	ID       string `json:"id"`
	Result   string `json:"result"`
	Evidence string `json:"evidence"`
}

// refusals are the results of an answer that did not arrive.
var refusals = map[string]error{"gone": adapters.ErrNotPending, "changed": adapters.ErrRequestChanged, "expired": adapters.ErrRequestExpired, "refused": adapters.ErrNotAllowed}

// Answer runs the program with the decision on its standard input. If the program does not say what it did with it, the error is ErrUnconfirmed. The result is
// never confirmed by that alone: the session must go on.
func (p *Program) Answer(ctx context.Context, r *adapters.Request, d adapters.Decision) (adapters.Result, error) {
	a := answerJSON{Schema: schemaKnown, Event: "answer"}
	a.Answer.Session = strings.TrimPrefix(r.Session, app.MachineID(string(p.Agent), ""))
	a.Answer.ID = r.ID
	a.Answer.Text = r.Text
	a.Answer.Verdict = d.Verdict
	a.Answer.Message = d.Message
	a.Answer.Answers = d.Answers
	input, err := json.Marshal(a)
	if err != nil {
		return adapters.Result{}, err
	}
	var said *answeredJSON
	err = p.run(ctx, append(input, '\n'), func(l *line) error {
		if l.Event == "answered" && l.Answered != nil {
			said = l.Answered
			return errDone
		}
		return nil
	})
	if _, is := errors.AsType[notRun](err); is {
		return adapters.Result{}, fmt.Errorf("%w: the program of answer in config.toml: %w", adapters.ErrAnswerElsewhere, err)
	}
	if said == nil {
		return adapters.Result{}, fmt.Errorf("%w: the program of answer in config.toml: %w", adapters.ErrUnconfirmed, err)
	}
	text := present.Cut(oneLine(said.Evidence), 200)
	refusal := refusals[said.Result]
	switch {
	case said.Session != a.Answer.Session || said.ID != a.Answer.ID:
		return adapters.Result{}, fmt.Errorf("%w: the program of answer in config.toml speaks of another request (%s)", adapters.ErrUnconfirmed, present.Cut(oneLine(said.ID), 40))
	case said.Result == "taken":
		return adapters.Result{Evidence: "the program of answer took it" + after(text)}, nil
	case refusal != nil:
		return adapters.Result{}, fmt.Errorf("%w%s", refusal, after(text))
	}
	return adapters.Result{}, fmt.Errorf("%w: the program of answer in config.toml says %q, which is no result", adapters.ErrUnconfirmed, present.Cut(oneLine(said.Result), 40))
}

// after returns a text behind a colon; empty: there is none.
func after(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// run runs the program within its limit, and calls take for each line until it returns an error; errDone ends the run. The error says what is wrong with the
// program.
func (p *Program) run(ctx context.Context, input []byte, take func(*line) error) error {
	limit := p.limit()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := p.stream(ctx, input, take)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && !errors.Is(err, errDone) {
		return fmt.Errorf("no complete answer in %s", present.Age(limit))
	}
	return err
}

func (p *Program) limit() time.Duration {
	if p.Limit == 0 {
		return programLimit
	}
	return p.Limit
}
