package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/must"
	"rollcall/proc"
)

// piped is the tests' agent with a pipe: a shell that prints every line of its input as "got …", and before that what the
// line asks it to print.
type piped struct {
	*fake
	script string
}

func (p *piped) Command(string, adapters.Task) (adapters.Command, error) {
	return adapters.Command{Path: "/bin/sh", Args: []string{"-c", p.script}, Stdin: "start\n", Pipe: true, Session: "chosen"}, nil
}

func (p *piped) Program(func(string) (string, error)) (string, error) { return "/bin/sh", nil }

func (p *piped) Talk() adapters.Talk { return &lineTalk{} }

// lineTalk is a conversation in which "ask ID TEXT" is a request and "cancel ID" withdraws it.
type lineTalk struct {
	asked     []adapters.Request
	withdrawn []string
	replies   int
	working   bool
	turns     int
}

func (t *lineTalk) Read(line []byte) {
	word, rest, _ := strings.Cut(string(line), " ")
	switch word {
	case "ask":
		id, text, _ := strings.Cut(rest, " ")
		t.asked = append(t.asked, adapters.Request{Agent: "fake", ID: id, Kind: adapters.AsksCommand, Text: text, CanAllow: true, CanDeny: true})
	case "cancel":
		t.withdrawn, t.asked = append(t.withdrawn, rest), nil
	case "turn":
		t.working, t.turns = true, t.turns+1
	case "idle":
		t.working = false
	case "reply":
		t.replies++
	}
}

func (t *lineTalk) Waiting() []adapters.Request { return append([]adapters.Request(nil), t.asked...) }
func (t *lineTalk) Working() bool               { return t.working }
func (t *lineTalk) Turns() int                  { return t.turns }
func (t *lineTalk) Withdrawn(id string) bool {
	return len(t.withdrawn) > 0 && t.withdrawn[len(t.withdrawn)-1] == id
}
func (t *lineTalk) Replied(string) (bool, error) { return t.replies > 0, nil }
func (t *lineTalk) Prompt(_, text string, _ bool) []byte {
	line, _ := json.Marshal(text)
	return append([]byte("prompt "), line...)
}
func (t *lineTalk) Interrupt(string) []byte { return []byte("interrupt") }
func (t *lineTalk) Answer(id string, d adapters.Decision) ([]byte, error) {
	return fmt.Appendf(nil, "answer %s %s", id, d.Verdict), nil
}

// converse launches a script with a pipe and returns its conversation.
func converse(t *testing.T, script string) (*stage, *piped, adapters.Session, adapters.Conversant) {
	t.Helper()
	s := newStage(t, &fake{chooses: true})
	p := &piped{s.fake, script}
	plan := must.Get(Prepare(p, Request{Task: adapters.Task{Dir: s.dir, Prompt: "x", Answerable: true}}, s.env()))(t)
	started, err := s.Start(t.Context(), plan, nil)
	if err != nil || len(started.Warnings) > 0 {
		t.Fatal(err, started.Warnings)
	}
	go func() { _, _ = started.Child.Wait() }()
	session := adapters.Session{ID: "chosen", Agent: p.Name(), Place: adapters.Place{CWD: s.dir}, Owner: adapters.Owner{Process: started.Record.Process}}
	c := s.Conversant(p, &app.Session{Session: session, Launch: &app.Launch{ID: started.Record.ID}})
	if c == nil {
		t.Fatal("no conversation")
	}
	return s, p, session, c
}

func (s *stage) output(id string) string {
	s.t.Helper()
	text := must.Get(s.Output(id, 1<<20))(s.t)
	return text
}

// echo asks once, and prints what it reads.
const echo = `read a; echo "got $a"; echo noise >&2; printf 'ask r1 touch a'; echo; while read -r a; do echo "got $a"; done`

// waits returns the only request of a conversation, once it waits.
func waits(s *stage, c adapters.Conversant, session adapters.Session) adapters.Request {
	s.t.Helper()
	var list []adapters.Request
	s.until("a request", func() (ok bool) {
		list = must.Get(c.Pending(s.t.Context(), session))(s.t)
		return len(list) == 1
	})
	return list[0]
}

func TestPipeAnswersOnce(t *testing.T) {
	s, p, session, c := converse(t, echo)
	r := waits(s, c, session)
	if r.Session != "chosen" || r.Folder != s.dir || r.Text != "touch a" {
		t.Errorf("%+v", r)
	}
	changed := r
	changed.Text = "touch b"
	if _, err := c.Answer(t.Context(), session, changed, adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrRequestChanged) {
		t.Errorf("another text: %v", err)
	}
	id := s.only().ID
	var group sync.WaitGroup
	var taken, refused atomic.Int32
	for n := range 8 { // each as a process of its own has it
		group.Go(func() {
			own := In(s.state, s.table).Conversant(p, &app.Session{Session: session, Launch: &app.Launch{ID: id}})
			verdict := adapters.AllowOnce
			if n%2 == 0 {
				verdict = adapters.Deny
			}
			switch _, err := own.Answer(t.Context(), session, r, adapters.Decision{Verdict: verdict}); {
			case err == nil:
				taken.Add(1)
			case errors.Is(err, adapters.ErrNotPending):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if taken.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d were taken and %d refused", taken.Load(), refused.Load())
	}
	s.until("the answer", func() bool { return strings.Contains(s.output(id), "got answer r1") })
	if out := s.output(id); strings.Count(out, "got answer") != 1 || !strings.HasPrefix(out, "got start\n") || !strings.HasSuffix(out, "noise\n") {
		t.Errorf("the output is %q", out)
	}
	if list, err := c.Pending(t.Context(), session); err != nil || len(list) > 0 {
		t.Errorf("after the answer: %v, %v", list, err)
	}
}

func TestPipeWithdrawn(t *testing.T) {
	s, _, session, c := converse(t, `read a; echo ask r1 touch a; read a; echo cancel r1; sleep 3600`)
	r := waits(s, c, session)
	if _, err := c.Answer(t.Context(), session, r, adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrNotPending) {
		t.Errorf("withdrawn meanwhile: %v", err)
	}
}

func TestPipePrompts(t *testing.T) {
	s, _, session, c := converse(t, `read a; while read -r a; do printf 'got %s\n' "$a"; case "$a" in interrupt) echo idle; echo reply;; *) echo turn;; esac; done`)
	long := strings.Repeat("x", 300<<10) + "\nsecond line"
	must.Do(t, c.Send(t.Context(), session, long))
	if err := c.Send(t.Context(), session, "too early"); !errors.Is(err, adapters.ErrBusy) {
		t.Errorf("in a turn: %v", err)
	}
	if err := c.Queue(t.Context(), session, "later"); err != nil {
		t.Error(err)
	}
	if err := c.Stop(t.Context(), session); err != nil {
		t.Error(err)
	}
	if err := c.Stop(t.Context(), session); err != nil {
		t.Errorf("without a turn: %v", err)
	}
	out := s.output(s.only().ID)
	if quoted, _ := json.Marshal(long); !strings.Contains(out, "got prompt "+string(quoted)+"\n") || strings.Contains(out, "too early") || strings.Count(out, "got interrupt") != 1 {
		t.Errorf("the output has %d bytes and ends %.200q", len(out), out[max(len(out)-200, 0):])
	}
}

// A deadline after the line was written is not a plain failure: the user would send the prompt again.
func TestPipeDeadlineAfterTheWrite(t *testing.T) {
	s, _, session, c := converse(t, `read a; while read -r a; do printf 'got %s\n' "$a"; case "$a" in *now*) echo turn;; esac; done`)
	within := func(what, got string, f func(context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		result := make(chan error, 1)
		go func() { result <- f(ctx) }()
		s.until("the line", func() bool { return strings.Contains(s.output(s.only().ID), got) })
		cancel()
		if err := <-result; !errors.Is(err, adapters.ErrUnconfirmed) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	within("a prompt", "got prompt \"quiet\"", func(ctx context.Context) error { return c.Send(ctx, session, "quiet") })
	must.Do(t, c.Send(t.Context(), session, "now"))
	within("an interrupt", "got interrupt", func(ctx context.Context) error { return c.Stop(ctx, session) })
}

// A process that has ended is given nothing, and its pipe is removed.
func TestPipeOfEndedProcess(t *testing.T) {
	s, _, session, c := converse(t, echo)
	r := waits(s, c, session)
	record := s.only()
	must.Do(t, os.Remove(s.pipeFile(record.ID)))
	must.Do(t, os.WriteFile(s.pipeFile(record.ID), nil, 0o600))
	if _, err := c.Answer(t.Context(), session, r, adapters.Decision{Verdict: adapters.Deny}); err == nil || errors.Is(err, adapters.ErrUnconfirmed) || !strings.Contains(err.Error(), "nothing was answered") {
		t.Errorf("a file in place of the pipe: %v", err)
	}
	if again := waits(s, c, session); again.ID != r.ID {
		t.Errorf("a request without an answer no longer waits: %+v", again)
	}
	s.signal(session.Process, proc.Kill)
	s.until("the end", func() bool { return !s.table.Alive(session.Process) })
	if err := c.Send(t.Context(), session, "x"); err == nil {
		t.Error("a prompt was given to a process that has ended")
	}
	if _, err := s.Sweep(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if x := s.only(); !x.Ended() || s.Conversant(&piped{s.fake, ""}, &app.Session{Session: session, Launch: &app.Launch{ID: x.ID}}) != nil {
		t.Errorf("%+v", x)
	}
}

// A prompt that is longer than a pipe holds reaches an agent that starts slowly.
func TestPipeLongFirstPrompt(t *testing.T) {
	s := newStage(t, &fake{})
	prompt := strings.Repeat("y", 1<<20)
	in := s.dir + "/in"
	pipe := s.dir + "/pipe"
	out := s.dir + "/out"
	must.Do(t, os.WriteFile(in, []byte(prompt+"\n"), 0o600))
	logs := must.Get(openFolder(s.dir))(t)
	defer logs.Close()
	must.Do(t, logs.MakePipe("pipe"))
	if err := logs.MakePipe("pipe"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second pipe: %v", err)
	}
	child, err := proc.Start(proc.Command{Path: "/bin/sh", Args: []string{"-c", `read -r a; printf %s "$a"; read -r b`}, Dir: s.dir, Env: []string{"FAKE_STORE=" + s.store}, Stdin: in, Pipe: pipe, Output: out})
	if err != nil || child.Input != nil {
		t.Fatal(err, child)
	}
	s.until("the prompt", func() bool { text, err := os.ReadFile(out); return err == nil && string(text) == prompt })
	w := must.Get(logs.OpenPipe("pipe"))(t)
	if _, err := w.WriteString("end\n"); err != nil {
		t.Error(err)
	}
	if code, err := child.Wait(); code != 0 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	w.Close()
	if _, err := logs.OpenPipe("pipe"); err == nil {
		t.Error("a pipe without a reader was opened")
	}
}

func TestReadingCutsLongLines(t *testing.T) {
	talk := &lineTalk{}
	r := &reading{talk: talk}
	part := bytes.Repeat([]byte("z"), 1<<20)
	for range maxLine>>20 + 2 {
		r.take(part)
	}
	if len(r.part) > maxLine {
		t.Errorf("%d bytes are held", len(r.part))
	}
	r.take([]byte("ask r0 x\nask r1 tou"))
	r.take([]byte("ch a\nask r2"))
	if len(talk.asked) != 1 || talk.asked[0].ID != "r1" || talk.asked[0].Text != "touch a" {
		t.Errorf("%+v", talk.asked)
	}
}

func TestAnswerableOnlyWherePossible(t *testing.T) {
	s := newStage(t, &fake{})
	_, err := Prepare(s.fake, Request{Task: adapters.Task{Dir: s.dir, Prompt: "x", Answerable: true}}, s.env())
	if err == nil || !strings.Contains(err.Error(), "can't be answered") {
		t.Error(err)
	}
	off := Options{Defaults: Defaults{noAnswer: true}, Answerable: true}
	if _, err := off.Request(t.Context()); err == nil || !strings.Contains(err.Error(), "answering") {
		t.Errorf("with answering off: %v", err)
	}
	both := Options{Terminal: true, Answerable: true}
	if _, err := both.Request(t.Context()); err == nil || !strings.Contains(err.Error(), "--answerable") {
		t.Errorf("in a terminal: %v", err)
	}
	for _, noAnswer := range []bool{false, true} {
		o := Options{Terminal: true, Defaults: Defaults{noAnswer: noAnswer}}
		if req, err := o.Request(t.Context()); err != nil || req.Task.Answerable == noAnswer {
			t.Errorf("in a terminal, with answering off %t: %t, %v", noAnswer, req.Task.Answerable, err)
		}
	}
}
