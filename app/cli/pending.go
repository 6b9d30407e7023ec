package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/machine"
	"rollcall/app/present"
	"rollcall/app/settings"
)

func newPending(e *env) *cobra.Command {
	var asJSON bool
	return command(&cobra.Command{
		Use:        "pending [ID]",
		SuggestFor: []string{"waiting", "requests", "approvals"},
		Short:      "Show what sessions ask you: commands, changes, questions",
		Long: `Show what each session that waits for you asks, whole and with nothing hidden:
line breaks are shown as ⏎, invisible characters by their number (<U+202E>). With
the id of a session (a unique prefix is enough), show only what that session asks.

Each request has a name of 26 letters and digits, which holds only as long as
nothing of the request changes: answer it with "rollcall answer ID --request NAME".`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError("pending takes at most one session id, or its beginning\n  see: %s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return printAllPending(e, args, asJSON) },
	},
		jsonFlag(&asJSON),
	)
}

// printAllPending prints the requests of the session that args name. Without args it prints the requests of all sessions that wait.
func printAllPending(e *env, args []string, asJSON bool) error {
	var list []answer.Pending
	var at time.Time
	if len(args) == 1 {
		s, snap, core, err := e.find(args[0], false)
		if err != nil {
			return err
		}
		list, at = []answer.Pending{e.answers(core).Of(e.ctx, s)}, snap.At
	} else {
		core, snap, err := e.refreshShown()
		if err != nil {
			return err
		}
		e.warnFailed(snap)
		list, at = e.answers(core).All(e.ctx, snap.Sessions()), snap.At
	}
	if err := e.ctx.Err(); err != nil {
		return err
	}
	if asJSON {
		return e.json(pendingAsJSON(list, at))
	}
	if len(list) == 0 {
		e.printf("no session waits for you\n")
	}
	for i := range list {
		if i > 0 {
			e.printf("\n")
		}
		e.printPending(&list[i])
	}
	return nil
}

// answers returns the Answers that answer the requests of sessions, as far as the user's settings allow.
func (e *env) answers(core *app.Core) *answer.Answers {
	answers := answer.New(core, func() settings.Answering { return e.settings().Answering.Requests })
	answers.OneKey = func() []settings.OneKey { return e.settings().Answering.OneKey }
	return answers
}

// printPending prints what one session asks.
func (e *env) printPending(p *answer.Pending) {
	s := &p.Session
	e.printf("%s %s  %s  %s\n", present.AgentName(s.Agent), present.Line(s.ID), e.path(s.CWD), present.Status(s.Session))
	for i := range p.Requests {
		e.printRequest(&p.Requests[i], ifelse(p.Err == nil, answer.There(s), ""))
	}
	switch {
	case p.Err != nil:
		e.printf("  %s\n", present.Line(p.Err.Error()))
		e.printf("  where the session is: %s\n", present.Line(p.Place))
	case len(p.Requests) == 0:
		e.printf("  nothing waits any more\n")
	}
}

// printRequest prints a request whole. where is where one is answered that can't be answered from here; empty: that is not printed.
func (e *env) printRequest(r *answer.Request, where string) {
	e.printf("  request %s  %s%s\n", r.Key, r.Kind.Words(), ifelse(r.AskedAt.IsZero(), "", ", asked "+clock(r.AskedAt)))
	e.printIf(r.Folder != "", "  in %s\n", present.Visible(r.Folder))
	for _, d := range r.Dangers {
		e.printf("  %s\n", e.colored("! "+d, "31"))
	}
	for i, p := range r.Plain().Readable() {
		e.printIf(i > 0, "  %s:\n", strings.ToLower(p.Title))
		e.printQuoted(p.Text)
	}
	if r.Reason != "" {
		e.printf("  because:\n")
		e.printQuoted(present.Visible(r.Reason))
	}
	for i, q := range r.Questions {
		e.printIf(len(r.Questions) > 1 || q.Header != "", "  question %d: %s\n", i+1, present.Visible(q.Header))
		if len(r.Questions) > 1 {
			e.printQuoted(present.Visible(q.Text))
		}
		for n, o := range q.Options {
			e.printf("    %d  %s%s\n", n+1, present.Visible(o.Label), ifelse(o.Says == "", "", "  ("+present.Visible(o.Says)+")"))
		}
		e.printIf(q.FreeText, "    or a text of your own\n")
	}
	e.printIf(where != "" && !r.CanAllow && !r.CanDeny && !r.CanReply, "  answer it %s\n", present.Line(where))
}

// printQuoted prints a visible text whole, each of its lines behind a bar, so that it can't pass for
// what Rollcall prints.
func (e *env) printQuoted(text string) {
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		e.printf("  | %s\n", line)
	}
	if len(text) > 2000 || len(lines) > 30 {
		e.printf("  (%s, %s)\n", plural(len(lines), "line"), plural(len(text), "byte"))
	}
}

// pendingDocument is the JSON document of pending. Empty fields are left out.
type pendingDocument struct {
	Schema  int           `json:"schema"`
	At      string        `json:"at"`
	Pending []pendingJSON `json:"pending"`
}

type pendingJSON struct {
	Session  machine.SessionJSON `json:"session"`
	Requests []requestJSON       `json:"requests"`
	Error    string              `json:"error,omitempty"`
	Place    string              `json:"place,omitempty"`
}

type requestJSON struct {
	Request   string         `json:"request"`
	ID        string         `json:"id"`
	Kind      string         `json:"kind"`
	Text      string         `json:"text"`
	Reason    string         `json:"reason,omitempty"`
	Folder    string         `json:"folder,omitempty"`
	Details   []detailJSON   `json:"details,omitempty"`
	Unknown   []string       `json:"unknown,omitempty"`
	Options   []string       `json:"options,omitempty"`
	Questions []questionJSON `json:"questions,omitempty"`
	AskedAt   string         `json:"asked_at,omitempty"`
	ExpiresAt string         `json:"expires_at,omitempty"`
	Dangers   []string       `json:"dangers,omitempty"`
	Harmless  bool           `json:"harmless"`
	Via       string         `json:"via"`
	CanAllow  bool           `json:"can_allow"`
	CanDeny   bool           `json:"can_deny"`
	CanReply  bool           `json:"can_reply"`
}

type questionJSON struct {
	Header   string       `json:"header,omitempty"`
	Text     string       `json:"text"`
	Options  []optionJSON `json:"options,omitempty"`
	Several  bool         `json:"several,omitempty"`
	FreeText bool         `json:"free_text,omitempty"`
	Secret   bool         `json:"secret,omitempty"`
}

type optionJSON struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

func pendingAsJSON(list []answer.Pending, at time.Time) pendingDocument {
	return pendingDocument{Schema: schema, At: timestamp(at), Pending: each(list, func(p *answer.Pending) pendingJSON {
		return pendingJSON{Session: sessionAsJSON(&p.Session), Requests: each(p.Requests, requestAsJSON), Error: errorText(p.Err), Place: p.Place}
	})}
}

// detailJSON is a part of a request beside its text.
type detailJSON struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

func requestAsJSON(r *answer.Request) requestJSON {
	return requestJSON{Request: r.Key, ID: r.ID, Kind: string(r.Kind), Text: r.Text, Reason: r.Reason, Folder: r.Folder, Unknown: r.Unknown, Options: r.Options,
		AskedAt: timestamp(r.AskedAt), ExpiresAt: timestamp(r.ExpiresAt), Dangers: r.Dangers, Harmless: r.OneKey, Via: r.Where,
		CanAllow: r.CanAllow, CanDeny: r.CanDeny, CanReply: r.CanReply, Questions: each(r.Questions, questionAsJSON),
		Details: each(r.Details, func(d *adapters.Detail) detailJSON { return detailJSON(*d) })}
}

func questionAsJSON(q *adapters.Question) questionJSON {
	return questionJSON{Header: q.Header, Text: q.Text, Several: q.Several, FreeText: q.FreeText, Secret: q.Secret,
		Options: each(q.Options, func(o *adapters.Option) optionJSON { return optionJSON{Label: o.Label, Description: o.Says} })}
}

// optionAt returns the label of an option by its number, as pending shows it.
func optionAt(r *answer.Request, question, number int) (string, error) {
	if question >= len(r.Questions) {
		return "", usageError("the request has %s", plural(len(r.Questions), "question"))
	}
	options := r.Questions[question].Options
	if number < 1 || number > len(options) {
		return "", usageError("question %d has the options 1 to %d, not %d", question+1, len(options), number)
	}
	return options[number-1].Label, nil
}
