package launch

import (
	"context"
	"errors"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/must"
)

// opener is the tests' agent that opens its session before it takes a prompt.
type opener struct{ *piped }

func (p opener) Talk() adapters.Talk { return &openTalk{} }

// openTalk is lineTalk in which "open ID" opens the session and "fail WHY" says why there is none.
type openTalk struct {
	lineTalk
	session string
	failed  error
}

func (t *openTalk) Read(line []byte) {
	word, rest, _ := strings.Cut(string(line), " ")
	switch word {
	case "open":
		t.session = rest
	case "fail":
		t.failed = errors.New(rest)
	default:
		t.lineTalk.Read(line)
	}
}

func (t *openTalk) Opened() (string, error) { return t.session, t.failed }

func (t *openTalk) Prompt(order, text string, queue bool) []byte {
	if t.session == "" {
		return nil
	}
	return t.lineTalk.Prompt(order, text, queue)
}

// opens starts a script as an agent that opens its session first.
func opens(t *testing.T, script string) (*stage, opener, *Started, error) {
	t.Helper()
	s := newStage(t, &fake{chooses: true})
	p := opener{&piped{s.fake, script}}
	plan, err := Prepare(p, Request{Task: adapters.Task{Dir: s.dir, Prompt: "do it", Answerable: true}}, s.env())
	must.Do(t, err)
	started, err := s.Start(t.Context(), plan, nil)
	return s, p, started, err
}

func TestOpen(t *testing.T) {
	s, p, started, err := opens(t, `read -r a; echo open theirs; read -r a; echo "turn"; echo "ask r1 $a"; read -r a; echo "got $a"; sleep 1000`)
	if err != nil || len(started.Warnings) > 0 {
		t.Fatal(err, started)
	}
	go func() { _, _ = started.Child.Wait() }()
	if r := s.only(); r.Session != "theirs" {
		t.Errorf("the record has the session %q", r.Session)
	}
	session := adapters.Session{ID: "theirs", Agent: p.Name(), Place: adapters.Place{CWD: s.dir}, Owner: adapters.Owner{Process: started.Record.Process}}
	c := s.Conversant(p, &app.Session{Session: session, Launch: &app.Launch{ID: started.Record.ID}})
	if r := waits(s, c, session); r.Text != `prompt "do it"` {
		t.Errorf("%+v", r)
	}
}

// An agent that takes its prompt later than it replies to any other command is waited for while its process lives.
func TestOpenSlowly(t *testing.T) {
	t.Parallel()
	_, _, started, err := opens(t, `read -r a; echo open theirs; read -r a; sleep 9; echo "turn"; sleep 1000`)
	if err != nil || len(started.Warnings) > 0 {
		t.Fatal(err, started)
	}
	go func() { _, _ = started.Child.Wait() }()
}

func TestOpenFails(t *testing.T) {
	for script, want := range map[string]string{
		`read -r a; echo fail no key is set; sleep 1000`: "no key is set",
		`echo bye`: "its process has ended",
		`read -r a; exec 0</dev/null; echo open s; exit 3`: "its process has ended",
	} {
		s, _, started, err := opens(t, script)
		if err == nil || !strings.Contains(err.Error(), want) || started != nil {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
		r := s.only()
		s.until("its end", func() bool { return !s.table.Alive(r.Process) })
	}
}

// A user who interrupts the start of an agent that opens nothing ends it.
func TestOpenInterrupted(t *testing.T) {
	s := newStage(t, &fake{chooses: true})
	p := opener{&piped{s.fake, `sleep 1000`}}
	plan, err := Prepare(p, Request{Task: adapters.Task{Dir: s.dir, Prompt: "do it", Answerable: true}}, s.env())
	must.Do(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.Start(ctx, plan, nil)
		ended <- err
	}()
	s.until("its start", func() bool {
		list, _ := s.List()
		return len(list) == 1 && !list[0].Process.IsZero()
	})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	r := s.only()
	s.until("its end", func() bool { return !s.table.Alive(r.Process) })
}
