package adapters

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"time"
)

// RequestKind is what a request asks the user for.
type RequestKind string

// The kinds of requests.
const (
	AsksCommand    RequestKind = "command"     // to run a command
	AsksFileChange RequestKind = "file_change" // to change files
	AsksPermission RequestKind = "permission"  // to use another tool, or for more rights
	AsksPlan       RequestKind = "plan"        // to carry out a plan
	AsksQuestion   RequestKind = "question"    // for an answer; see Request.Questions
)

// Request is what a waiting session asks of the user. Its texts come from the agent
// unchanged and are untrusted: show them with present.Visible, which hides nothing.
type Request struct {
	Agent   Name
	Session string // id of the session
	ID      string // as the agent names the request; it may be used again for another request
	Kind    RequestKind
	// Text is all that the user decides on: the whole command, the whole change, the
	// tool with its arguments, the plan, or the questions. It is never cut.
	Text string
	// Reason is why the agent asks, in its own words; empty where it gives none.
	Reason string
	Folder string // in which a command would run; empty where it is not known
	// Options are the decisions that the agent offers, in its own words, for display.
	// Only allowing once and denying can be chosen here.
	Options []string
	// Questions are the questions of a request for an answer, in the order of their answers.
	Questions []Question
	// OnlyRead reports that the questions can be read here, and answered in the agent's terminal only.
	OnlyRead  bool
	AskedAt   time.Time // zero where it is not known
	ExpiresAt time.Time // zero if it does not expire, or where that is not known
	// CanAllow and CanDeny report which decisions the agent accepts from here.
	CanAllow, CanDeny bool
	// CanExplain reports that a denial reaches the agent with its message.
	CanExplain bool
	// Where is how the answer reaches the agent, for the user: "the Codex daemon".
	Where string
	// Details are what the request does or gets beside its text, such as variables that are set for its command. Nothing that has one is only reading.
	Details []Detail
	// Unknown names the members of the agent's request that this version of Rollcall does not know. A request with one can only be denied.
	Unknown []string
}

// Detail is a part of a request beside its text.
type Detail struct{ Title, Text string }

// UnknownText returns why a request with members that are not known can only be denied; empty: it has none.
func (r *Request) UnknownText() string {
	if len(r.Unknown) == 0 {
		return ""
	}
	names := make([]string, len(r.Unknown))
	for i, name := range r.Unknown {
		names[i] = fmt.Sprintf("%.100q", name)
	}
	members := "a member "
	if len(names) > 1 {
		members = "members "
	}
	return "it has " + members + strings.Join(names, ", ") + " that this version of Rollcall does not know: it can be denied here, or answered in the agent"
}

// Question is one question of a request.
type Question struct {
	ID      string // as the agent names it; may be empty
	Header  string // a word or two; may be empty
	Text    string
	Options []Option
	// Several reports that more than one option may be chosen.
	Several bool
	// FreeText reports that the answer may be a text of the user's own.
	FreeText bool
	// Secret reports that the answer must not be shown while it is typed.
	Secret bool
}

// Option is one answer that a question offers. Its JSON names are those that the agents use.
type Option struct {
	Label string `json:"label"`
	Says  string `json:"description"` // what it means; may be empty
}

// Key identifies the request together with everything that the user decides on: its
// session, its id, its text, its folder, its details and its questions. A request with the same key is the same
// request, shown the same way. It has only a-z and 2-7, and 26 characters.
func (r *Request) Key() string {
	h := sha256.New()
	part(h, string(r.Agent), r.Session, r.ID, string(r.Kind), r.Text, r.Reason, r.Folder)
	part(h, r.Options...)
	for _, q := range r.Questions {
		part(h, q.ID, q.Header, q.Text, fmt.Sprint(q.Several, q.FreeText))
		for _, o := range q.Options {
			part(h, o.Label, o.Says)
		}
	}
	for _, d := range r.Details {
		part(h, d.Title, d.Text)
	}
	part(h, r.Unknown...)
	return strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil))[:26])
}

// part adds texts to a hash, each with its length, so that no two lists of texts have the
// same hash.
func part(h hash.Hash, texts ...string) {
	_ = binary.Write(h, binary.BigEndian, uint64(len(texts))) // a hash never fails
	for _, text := range texts {
		_ = binary.Write(h, binary.BigEndian, uint64(len(text)))
		_, _ = h.Write([]byte(text))
	}
}

// Verdict is the kind of a decision.
type Verdict string

// The verdicts. Each decides one request and nothing more: no verdict means "always", holds for
// a whole session or adds a rule, and none changes a permission mode.
const (
	AllowOnce Verdict = "allow"
	Deny      Verdict = "deny"
	Reply     Verdict = "reply" // the answers to questions
)

// Decision is the user's answer to a request.
type Decision struct {
	Verdict Verdict
	Message string // with Deny: why; may be empty
	// SecondLook reports, with AllowOnce and Reply, that the user confirmed it by a second key, click or flag. Adapters ignore it.
	SecondLook bool
	// Answers are, with Reply, the answers to Request.Questions, in the same order: for each
	// the labels of the options, or the user's own text.
	Answers [][]string
}

// Result describes the agent's reaction to an answer that it accepted.
type Result struct {
	// Confirmed reports that the agent itself confirmed the decision. Without it the answer was
	// delivered, and only the session's status can show whether the answer took effect.
	Confirmed bool
	// Evidence is the agent's confirmation in words: "the daemon resolved request 3".
	Evidence string
}

// The reasons why a request was not answered. Callers distinguish them with errors.Is.
var (
	// ErrAnswerElsewhere: this session can't be answered from outside. The text says why.
	ErrAnswerElsewhere = errors.New("it can't be answered from here")
	// ErrNotPending: the request no longer waits: it was answered elsewhere, or withdrawn.
	ErrNotPending = errors.New("nothing was answered: the request was answered elsewhere or withdrawn")
	// ErrRequestChanged: what waits now is not what the user saw.
	ErrRequestChanged = errors.New("nothing was answered: the request has changed")
	// ErrRequestExpired: the agent no longer takes an answer to it.
	ErrRequestExpired = errors.New("nothing was answered: the request has expired")
	// ErrNotAllowed: the agent, or the user's settings, do not allow this answer from here.
	ErrNotAllowed = errors.New("nothing was answered: not allowed")
	// ErrNoSuchAnswer: the decision does not fit the request, such as an option that the
	// question does not have.
	ErrNoSuchAnswer = errors.New("nothing was answered: the request has no such answer")
	// ErrUnconfirmed: the answer was sent, but it is not known whether it took effect.
	ErrUnconfirmed = errors.New("not confirmed")
)

// Answerer is implemented by adapters whose agent takes answers to its requests from
// outside.
type Answerer interface {
	// Pending returns the requests of s, a session from this adapter, that wait for the user,
	// the oldest first. An error that is ErrAnswerElsewhere says why this session can't be
	// answered. Pending answers no request and writes no files.
	Pending(ctx context.Context, s Session) ([]Request, error)
	// Answer gives the decision to the agent, for the request of s as the user saw it. It reads
	// the request again and answers only if its Key is the same. It returns no error only if
	// the agent accepted the answer, and wraps one of the errors above otherwise. If several
	// callers answer a request at the same time, at most one succeeds.
	Answer(ctx context.Context, s Session, shown Request, d Decision) (Result, error)
}

// Prompter is implemented by adapters whose agent takes prompts for a running session from
// outside. A turn is interrupted through Stopper.
type Prompter interface {
	// Send begins a turn of s, a session from this adapter that is idle, and returns once
	// the agent has taken the prompt. A session that works gets ErrBusy.
	Send(ctx context.Context, s Session, prompt string) error
	// Queue hands over a prompt that the agent starts when the turn of s is over, or at once if
	// no turn is open.
	Queue(ctx context.Context, s Session, prompt string) error
}

// ErrBusy reports that a turn is open, so that a prompt can only be queued.
var ErrBusy = errors.New("a turn is open")

// Check returns why the decision can't be given on r: ErrNotAllowed or ErrNoSuchAnswer,
// with the reason; nil if it can.
func (d *Decision) Check(r *Request) error {
	if why := r.UnknownText(); why != "" && d.Verdict != Deny {
		return fmt.Errorf("%w: %s", ErrNotAllowed, why)
	}
	switch d.Verdict {
	case AllowOnce:
		if !r.CanAllow {
			return fmt.Errorf("%w: %s does not offer to allow it once", ErrNoSuchAnswer, r.Where)
		}
	case Deny:
		if !r.CanDeny {
			return fmt.Errorf("%w: %s does not take a denial", ErrNoSuchAnswer, r.Where)
		}
	case Reply:
		if r.OnlyRead {
			return fmt.Errorf("%w: %s takes no answers from here", ErrNoSuchAnswer, r.Where)
		}
		return d.checkAnswers(r.Questions)
	default:
		return fmt.Errorf("%w: %q is not a decision", ErrNoSuchAnswer, d.Verdict)
	}
	if len(d.Answers) > 0 {
		return fmt.Errorf("%w: the request is not a question", ErrNoSuchAnswer)
	}
	return nil
}

// checkAnswers returns why the answers don't fit the questions.
func (d *Decision) checkAnswers(questions []Question) error {
	if len(questions) == 0 {
		return fmt.Errorf("%w: the request is not a question", ErrNoSuchAnswer)
	}
	if len(d.Answers) != len(questions) {
		return fmt.Errorf("%w: it has %d questions, and %d answers were given", ErrNoSuchAnswer, len(questions), len(d.Answers))
	}
	for i, q := range questions {
		given := d.Answers[i]
		if len(given) == 0 || len(given) > 1 && !q.Several {
			return fmt.Errorf("%w: question %d takes one answer", ErrNoSuchAnswer, i+1)
		}
		for _, a := range given {
			if !q.FreeText && !slices.ContainsFunc(q.Options, func(o Option) bool { return o.Label == a }) {
				return fmt.Errorf("%w: question %d does not offer %q", ErrNoSuchAnswer, i+1, a)
			}
			if a == "" {
				return fmt.Errorf("%w: the answer to question %d is empty", ErrNoSuchAnswer, i+1)
			}
		}
	}
	return nil
}

// Match returns the request of list that has the key of shown. Otherwise its error says
// whether the request is gone (ErrNotPending) or has changed (ErrRequestChanged).
func Match(list []Request, shown *Request) (Request, error) {
	key := shown.Key()
	err := ErrNotPending
	for i := range list {
		if list[i].Key() == key {
			return list[i], nil
		}
		if list[i].ID == shown.ID {
			err = ErrRequestChanged
		}
	}
	return Request{}, err
}

// Words returns what a kind of request asks for, in words.
func (k RequestKind) Words() string {
	words := map[RequestKind]string{AsksCommand: "wants to run a command", AsksFileChange: "wants to change files",
		AsksPlan: "asks you to approve its plan", AsksQuestion: "asks a question"}
	return cmp.Or(words[k], "asks for a permission")
}
