// Package corpus writes homes full of coding agents' sessions for benchmarks
// and completeness tests: seeded, so that the same numbers give the same
// sessions, and with a manifest of the truth. The form of every record is that
// of the recordings of the real programs; sizes follow what users have (median
// 136 KB, p95 2.4 MB a transcript).
package corpus

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"rollcall/adapters"
)

// Options say what to write.
type Options struct {
	// Sessions in all: 40 % Claude Code, 30 % Codex, 20 % OpenCode, 10 % Pi (a
	// quarter of those by pi_agent_rust).
	Sessions int
	Live     int       // how many of them belong to a live process
	Gateway  int       // sessions of an OpenClaw gateway on top; see Manifest.Gateway
	Seed     uint64    // the same seed gives the same corpus
	Now      time.Time // modification times spread over the 90 days before it, 90 % older than a week
	Scale    float64   // of the sessions' sizes; 0: 1
}

// Truth is what a correct monitor must say of one session. Its JSON is a part of
// what `rollcall list --json` prints.
type Truth struct {
	ID         string              `json:"id"`
	Agent      adapters.Name       `json:"agent"`
	Status     adapters.Status     `json:"status"`
	WaitingFor adapters.WaitingFor `json:"waiting_for,omitempty"`
	Outcome    adapters.Outcome    `json:"outcome,omitempty"`
	PID        int                 `json:"pid,omitempty"`
	CWD        string              `json:"cwd,omitempty"`
	Branch     string              `json:"branch,omitempty"`
	Model      string              `json:"model,omitempty"`
	Title      string              `json:"title,omitempty"`
	Prompt     string              `json:"first_prompt,omitempty"`
	Parent     string              `json:"parent,omitempty"`
	Tokens     *adapters.Tokens    `json:"tokens,omitempty"`
}

// Manifest is the truth of a whole corpus.
type Manifest struct {
	Sessions []Truth          `json:"sessions"`          // of files and processes
	Gateway  []GatewaySession `json:"gateway,omitempty"` // what Serve answers
	Bytes    int64            `json:"bytes"`
	Files    int64            `json:"files"`
}

// session is one session that is to be written.
type session struct {
	*Truth
	index      int
	live       bool
	start, end time.Time
	size       int // about how many bytes it says
	rng        *rand.Rand
}

type writer struct {
	Options
	home   string
	boot   time.Time // of the machine in the process table
	store  *openCodeStore
	states *codexStates

	mu      sync.Mutex
	procs   []process
	bytes   int64
	files   int64
	folders map[string]time.Time // when something was made or removed in each
}

// Write writes a corpus below dir: dir/home is the HOME, dir/proc and dir/etc
// are a process table and machine for HOST_PROC and HOST_ETC,
// dir/manifest.json is the truth. dir must not exist or be empty.
func Write(dir string, o Options) (Manifest, error) {
	if o.Scale == 0 {
		o.Scale = 1
	}
	w := &writer{Options: o, home: filepath.Join(dir, "home"), folders: map[string]time.Time{},
		boot: o.Now.Add(-48 * time.Hour).Truncate(time.Second)}
	man := Manifest{Sessions: make([]Truth, o.Sessions), Gateway: gatewaySessions(o)}
	if err := w.writeSessions(man.Sessions); err != nil {
		return Manifest{}, err
	}
	if err := w.ageFolders(); err != nil {
		return Manifest{}, err
	}
	if o.Gateway > 0 {
		w.addProcess(process{pid: gatewayPID, comm: "openclaw-gatewa", exe: "/usr/bin/node", cwd: "/", args: []string{"openclaw-gateway"}, ticks: gatewayTicks})
	}
	if err := w.writeProc(dir); err != nil {
		return Manifest{}, err
	}
	man.Bytes, man.Files = w.bytes, w.files
	return man, writeManifest(dir, man)
}

// writeManifest writes the manifest of the corpus at dir.
func writeManifest(dir string, man Manifest) error {
	data, err := json.MarshalIndent(man, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "manifest.json"), data, 0o600)
}

// Read reads the manifest of the corpus at dir.
func Read(dir string) (Manifest, error) {
	var man Manifest
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(data, &man)
	}
	return man, err
}

// writeSessions writes the sessions, several at a time; what goes into one
// database is written by one goroutine, in order.
func (w *writer) writeSessions(truths []Truth) error {
	var err error
	w.store, err = newOpenCodeStore(w)
	if err != nil {
		return err
	}
	w.states = &codexStates{}
	work := make(chan *session)
	errs := make(chan error, 1)
	fail := func(s *session, err error) {
		if err != nil {
			select {
			case errs <- fmt.Errorf("session %d: %w", s.index, err):
			default:
			}
		}
	}
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for s := range work {
				fail(s, w.write(s))
			}
		})
	}
	group.Go(func() {
		for i := range truths {
			if isOpenCode(i) {
				s := w.draw(i, &truths[i])
				fail(s, w.openCode(s))
			}
		}
	})
	for i := range truths {
		if !isOpenCode(i) {
			work <- w.draw(i, &truths[i])
		}
	}
	close(work)
	group.Wait()
	select {
	case err := <-errs:
		return err
	default:
	}
	if err := w.store.finish(w); err != nil {
		return err
	}
	return w.codexIndex()
}

func isOpenCode(i int) bool { return i%10 == 7 || i%10 == 8 }

// write writes a session that consists of files of its own.
func (w *writer) write(s *session) error {
	switch i := s.index; {
	case i%10 < 4:
		return w.claude(s)
	case i%10 < 7:
		return w.codex(s)
	default:
		return w.pi(s)
	}
}

// draw decides what all agents' sessions have.
func (w *writer) draw(i int, t *Truth) *session {
	rng := rand.New(rand.NewPCG(w.Seed, uint64(i)+1))
	age := 7*24*time.Hour + time.Duration(rng.Float64()*float64(83*24*time.Hour))
	if rng.IntN(10) == 0 {
		age = time.Duration(rng.Float64() * float64(7*24*time.Hour))
	}
	s := &session{Truth: t, index: i, live: i < w.Live, rng: rng}
	*t = Truth{Status: adapters.Stopped, Outcome: outcomeOf(rng), CWD: fmt.Sprintf("/home/dev/proj%d", i%199),
		Branch: []string{"main", "feature/x", "fix/flaky"}[i%3], Prompt: fmt.Sprintf("task %d: make the build green", i),
		Tokens: &adapters.Tokens{}}
	if s.live { // in a folder of its own: the only thing that tells some agents' processes apart
		age = time.Duration(i%50+2) * time.Second
		t.CWD = fmt.Sprintf("/home/dev/live%d", i)
		t.PID = 20000 + i
		t.Status, t.Outcome = adapters.Working, ""
		if i%2 == 1 {
			t.Status, t.Outcome = adapters.Idle, adapters.Completed
		}
	}
	s.end = w.Now.Add(-age).Truncate(time.Millisecond)
	s.start = s.end.Add(-time.Hour)
	s.size = int(136e3 * math.Exp(rng.NormFloat64()*1.745) * w.Scale)
	if s.live {
		s.size = min(s.size, 1<<20)
	}
	s.size = min(max(s.size, 4096), 55<<20)
	return s
}

func outcomeOf(rng *rand.Rand) adapters.Outcome {
	switch n := rng.IntN(100); {
	case n < 80:
		return adapters.Completed
	case n < 88:
		return adapters.Interrupted
	case n < 95:
		return adapters.Died
	}
	return adapters.Failed
}

// turns spreads the n turns that a session may have over its time.
func (s *session) turns(bytesEach int) func(turn int) time.Time {
	step := (s.end.Sub(s.start) - 2*time.Minute) / time.Duration(s.size/bytesEach+2)
	step = min(max(step, time.Millisecond), 20*time.Second)
	return func(turn int) time.Time {
		at := s.start.Add(time.Minute + time.Duration(turn)*step)
		if last := s.end.Add(-time.Second); at.After(last) {
			return last
		}
		return at
	}
}

func (s *session) uuid(v7 time.Time) string {
	a, b := s.rng.Uint64(), s.rng.Uint64()
	a = a&^0xf000 | 0x4000
	if !v7.IsZero() {
		a = uint64(v7.UnixMilli())<<16 | 0x7000 | a&0xfff
	}
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48&0x3fff|0x8000, b&0xffffffffffff)
}
