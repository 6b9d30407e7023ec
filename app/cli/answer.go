package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/present"
)

type answerCommand struct {
	*env
	request     string
	allow, deny bool
	secondLook  bool
	message     string
	options     []int
	texts       []string
}

func newAnswer(e *env) *cobra.Command {
	c := &answerCommand{env: e}
	return command(&cobra.Command{
		Use:        "answer ID (--allow | --deny | --option N | --text TEXT)",
		SuggestFor: []string{"approve", "allow", "deny", "reply"},
		Short:      "Answer what a session asks: allow it once, deny it, or reply",
		Long: `Answer the request of the session with this id, or with the only id that begins
so. "rollcall pending" shows requests and their names. The answer counts for the
request with this name alone: if the session, the request or its text has changed,
nothing is answered (exit code 13). Without --request the request is shown, and
you are asked; that needs a terminal.

What is allowed is allowed once. With --request, --allow follows the rule of one
key: it allows only reading files of the session's folder, and commands that you
entered for that folder (the setting answering.one_key). With --second-look it
allows all else too: you say that you have read the request. Nothing here allows a command for good, or changes
how an agent asks. The setting "answering" leaves only --deny, or nothing.`,
		Args: oneID,
		RunE: withArg(c.run),
	},
		withFlag(&c.request, "request", "the `NAME` of the request, as pending shows it"),
		withFlag(&c.allow, "allow", "allow it, once"),
		withFlag(&c.secondLook, "second-look", "allow or answer also what takes a second key, since you have read it"),
		withFlag(&c.deny, "deny", "deny it"),
		withFlag(&c.message, "message,m", "with --deny: a `TEXT` that tells the agent why"),
		withFlag(&c.options, "option", "the number `N` of the option of a question; once per question"),
		withFlag(&c.texts, "text", "a `TEXT` of your own as the answer to a question; once per question"),
	)
}

// check refuses flags that contradict each other.
func (c *answerCommand) check() error {
	switch {
	case count(c.allow, c.deny, len(c.options) > 0, len(c.texts) > 0) != 1:
		return usageError("say how to answer: --allow, --deny, --option N or --text TEXT\n  see: rollcall answer --help")
	case c.secondLook && c.deny:
		return usageError("--second-look goes with --allow, --option and --text")
	case c.message != "" && !c.deny:
		return usageError("--message goes with --deny")
	}
	return nil
}

func (c *answerCommand) run(id string) error {
	if err := c.check(); err != nil {
		return err
	}
	s, _, core, err := c.find(id, false)
	if err != nil {
		return err
	}
	answers := c.answers(core)
	pending := answers.Of(c.ctx, s)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if pending.Err != nil {
		return c.wrapAnswer(&s, fmt.Errorf("%w%s", pending.Err, ifelse(pending.Place == "", "", " ("+pending.Place+")")))
	}
	request, err := c.choose(&pending)
	if err != nil {
		return err
	}
	decision, err := c.decision(request)
	if err != nil {
		return err
	}
	result, err := answers.Answer(c.ctx, pending.Ref(request), decision)
	if err != nil {
		return c.wrapAnswer(&s, err)
	}
	c.printf("answered after %s: %s; the session is %s\n", result.Took.Round(10*time.Millisecond), present.Line(result.Evidence), present.Status(result.Session.Session))
	return nil
}

// choose returns the request to answer: the one that --request names, or the only one after the
// user has seen it.
func (c *answerCommand) choose(p *answer.Pending) (*answer.Request, error) {
	if c.request != "" {
		for i := range p.Requests {
			if p.Requests[i].Key == c.request {
				return &p.Requests[i], nil
			}
		}
		err := adapters.ErrNotPending
		if len(p.Requests) > 0 {
			err = adapters.ErrRequestChanged
		}
		return nil, c.wrapAnswer(&p.Session, fmt.Errorf("%w; see what waits now: rollcall pending %s", err, p.Session.ID))
	}
	switch n := len(p.Requests); {
	case n == 0:
		return nil, c.wrapAnswer(&p.Session, adapters.ErrNotPending)
	case n > 1:
		return nil, usageError("%s wait: name one with --request, as rollcall pending %s shows them", plural(n, "request"), p.Session.ID)
	case c.streams.In == nil:
		return nil, usageError("not a terminal: name the request that you saw with --request, as rollcall pending %s shows it", p.Session.ID)
	}
	c.printPending(p)
	return &p.Requests[0], c.confirm("Answer this request?", false, "nothing was answered")
}

// decision returns the user's decision on a request.
func (c *answerCommand) decision(r *answer.Request) (adapters.Decision, error) {
	switch {
	case c.allow:
		return adapters.Decision{Verdict: adapters.AllowOnce, SecondLook: c.secondLook || c.request == ""}, nil // or the user was asked
	case c.deny:
		if c.message != "" && !r.CanExplain {
			return adapters.Decision{}, usageError("%s takes no message with a denial; use --deny alone", r.Where)
		}
		return adapters.Decision{Verdict: adapters.Deny, Message: c.message}, nil
	}
	d := adapters.Decision{Verdict: adapters.Reply, SecondLook: c.secondLook || c.request == ""}
	for _, text := range c.texts {
		d.Answers = append(d.Answers, []string{text})
	}
	for i, n := range c.options {
		label, err := optionAt(r, i, n)
		if err != nil {
			return d, err
		}
		d.Answers = append(d.Answers, []string{label})
	}
	return d, nil
}

// wrapAnswer adds the session's id and the exit code to an error of answering.
func (e *env) wrapAnswer(s *app.Session, err error) error {
	code := Failure
	switch is := func(kind error) bool { return errors.Is(err, kind) }; {
	case is(adapters.ErrUnconfirmed):
		code = Unconfirmed
	case slices.ContainsFunc(unanswered, is):
		code = Unanswered
	}
	return e.sessionError(code, s, err)
}

// unanswered lists the errors that mean that nothing of the user's answer reached the agent.
var unanswered = []error{adapters.ErrAnswerElsewhere, adapters.ErrNotPending, adapters.ErrRequestChanged, adapters.ErrRequestExpired,
	adapters.ErrNotAllowed, adapters.ErrNoSuchAnswer, adapters.ErrBusy, answer.ErrNoPrompts, answer.ErrNoInterrupt}
