package launch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

// core returns a core that lists stopped sessions too.
func (s *stage) core() *app.Core {
	return app.New(app.Config{Adapters: []adapters.Adapter{s.fake}, Table: s.table, Launches: s.Launches, Since: app.All})
}

// onlyShown returns the only session that is shown.
func (s *stage) onlyShown(core *app.Core) app.Session {
	s.t.Helper()
	snap := core.Refresh(s.t.Context())
	if len(snap.Sessions()) != 1 {
		s.t.Fatalf("%d sessions: %+v", len(snap.Sessions()), snap.Sessions())
	}
	return snap.Sessions()[0]
}

// TestLaunchWithoutSessionStaysVisible: until its record is removed, whether or not its end was recorded.
func TestLaunchWithoutSessionStaysVisible(t *testing.T) {
	s := newStage(t, &fake{role: "fail"})
	core := s.core()
	r := s.start(func(r *Request) { r.Group = "g-1" }).Record
	s.until("its end", func() bool { return !s.table.Alive(r.Process) })
	x := s.onlyShown(core)
	if x.ID != r.ID || x.Status != adapters.Stopped || x.Outcome != "" || x.Launch == nil || !x.Launch.Unlisted || x.Launch.Group != "g-1" || x.CWD != r.Dir {
		t.Errorf("before its end is recorded: %+v, %+v", x, x.Launch)
	}
	code := 3
	if _, _, err := s.End(t.Context(), r.ID, &code, ""); err != nil {
		t.Fatal(err)
	}
	x = s.onlyShown(core)
	if x.ID != r.ID || x.Status != adapters.Stopped || !strings.Contains(x.Evidence, "exit code 3; the agent does not list a session") || x.LastActivityAt.IsZero() {
		t.Errorf("%+v", x)
	}
	if found, _, err := core.Find(t.Context(), r.ID[:5]); err != nil || found.ID != r.ID {
		t.Errorf("found %+v, %v", found, err)
	}
	messages, err := core.Peek(t.Context(), x, 10)
	if err != nil || len(messages) != 2 || messages[0].Role != adapters.FromNote || strings.TrimSpace(messages[1].Text) != "no such model" {
		t.Errorf("%+v, %v", messages, err)
	}
	if err := CheckResume(&x); err == nil || !strings.Contains(err.Error(), "nothing to resume") {
		t.Errorf("%v", err)
	}
	must.Do(t, s.remove(r))
	if snap := core.Refresh(t.Context()); len(snap.Sessions()) != 0 {
		t.Errorf("%+v", snap.Sessions())
	}
}

// storeEnded writes a session of an ended process into the agent's storage.
func (s *stage) storeEnded(id, prompt, dir string) {
	s.t.Helper()
	data, err := json.Marshal(entry{ID: id, Prompt: prompt, Dir: dir, Started: s.now()})
	if err == nil {
		err = os.WriteFile(filepath.Join(s.store, id), data, 0o600)
	}
	must.Do(s.t, err)
}

// TestSessionLearnedAfterTheEnd: the agent stores its session when it ends. The session keeps its launch.
func TestSessionLearnedAfterTheEnd(t *testing.T) {
	s := newStage(t, &fake{role: "short"})
	core := s.core()
	r := s.start(func(r *Request) { r.Group = "g-1" }).Record
	s.until("its end", func() bool { return !s.table.Alive(r.Process) })
	s.storeEnded("late", r.Prompt, r.Dir)
	x := s.onlyShown(core)
	if x.ID != "late" || x.Launch == nil || x.Launch.ID != r.ID || x.Launch.Group != "g-1" || x.Launch.Unlisted {
		t.Fatalf("%+v, %+v", x, x.Launch)
	}
	learned, err := s.Learn(t.Context(), s.only(), core.Snapshot())
	if err != nil || learned.Session != "late" || !learned.Seen || learned.Ended() {
		t.Errorf("%+v, %v", learned, err)
	}
	code := 0
	if _, _, err := s.End(t.Context(), r.ID, &code, ""); err != nil {
		t.Fatal(err)
	}
	// Another session with the same prompt does not make it unsure again.
	s.storeEnded("other", r.Prompt, r.Dir)
	snap := core.Refresh(t.Context())
	for _, x := range snap.Sessions() {
		if (x.Launch != nil) != (x.ID == "late") {
			t.Errorf("%s: %+v", x.ID, x.Launch)
		}
	}
	if len(snap.Sessions()) != 2 {
		t.Errorf("%+v", snap.Sessions())
	}
	if got := s.ExitCode(t.Context(), &snap.Sessions()[0]); snap.Sessions()[0].ID == "late" && (got == nil || *got != 0) {
		t.Errorf("exit code %v", got)
	}
}

// TestSessionsOfEnded holds which sessions belong to launches that are over.
func TestSessionsOfEnded(t *testing.T) {
	dir, at := t.TempDir(), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	long := strings.Repeat("many words ", 100)
	record := func(id string, change func(*Record)) Record {
		r := Record{ID: id, Agent: agentname.Codex, Dir: dir, Prompt: "tidy up", Process: proc.Identity{PID: 1, Start: 1}, LaunchedAt: at, EndedAt: at.Add(time.Minute)}
		if change != nil {
			change(&r)
		}
		return r
	}
	session := func(id string, change func(*adapters.Session)) adapters.Session {
		s := adapters.Session{
			ID: id, Agent: agentname.Codex,
			State: adapters.State{Status: adapters.Stopped},
			Place: adapters.Place{CWD: dir},
			Topic: adapters.Topic{FirstPrompt: "tidy  up\n"},
			Times: adapters.Times{StartedAt: at.Add(time.Second)},
		}
		if change != nil {
			change(&s)
		}
		return s
	}
	one := []Record{record("l-1", nil)}
	for name, c := range map[string]struct {
		records  []Record
		sessions []adapters.Session
		want     map[string]string
	}{
		"its own":          {one, []adapters.Session{session("a", nil)}, map[string]string{"l-1": "a"}},
		"live":             {one, []adapters.Session{session("a", func(s *adapters.Session) { s.Status = adapters.Idle })}, nil},
		"a sub-agent":      {one, []adapters.Session{session("a", func(s *adapters.Session) { s.Parent = "p" })}, nil},
		"before":           {one, []adapters.Session{session("a", func(s *adapters.Session) { s.StartedAt = at.Add(-time.Minute) })}, nil},
		"after":            {one, []adapters.Session{session("a", func(s *adapters.Session) { s.StartedAt = at.Add(2 * time.Minute) })}, nil},
		"another folder":   {one, []adapters.Session{session("a", func(s *adapters.Session) { s.CWD = filepath.Dir(dir) })}, nil},
		"another prompt":   {one, []adapters.Session{session("a", func(s *adapters.Session) { s.FirstPrompt = "tidy down" })}, nil},
		"a shorter prompt": {one, []adapters.Session{session("a", func(s *adapters.Session) { s.FirstPrompt = "tidy" })}, nil},
		"no prompt":        {one, []adapters.Session{session("a", func(s *adapters.Session) { s.FirstPrompt = "" })}, nil},
		"another machine":  {one, []adapters.Session{session("a", func(s *adapters.Session) { s.Remote = "office" })}, nil},
		"files are appended": {one, []adapters.Session{session("a", func(s *adapters.Session) { s.FirstPrompt += "\n--- spec" })},
			map[string]string{"l-1": "a"}},
		"a long prompt, cut": {[]Record{record("l-1", func(r *Record) { r.Prompt = long })},
			[]adapters.Session{session("a", func(s *adapters.Session) { s.FirstPrompt = long[:150] })}, map[string]string{"l-1": "a"}},
		"two sessions": {one, []adapters.Session{session("a", nil), session("b", nil)}, nil},
		"two launches": {[]Record{record("l-1", nil), record("l-2", nil)}, []adapters.Session{session("a", nil)}, nil},
		"two models": {[]Record{record("l-1", func(r *Record) { r.Model = "m1" }), record("l-2", func(r *Record) { r.Model = "m2" })},
			[]adapters.Session{session("a", func(s *adapters.Session) { s.Model = "m2" }), session("b", func(s *adapters.Session) { s.Model = "m1" })},
			map[string]string{"l-1": "b", "l-2": "a"}},
		"that of another launch": {append([]Record{record("l-2", func(r *Record) { r.Session = "a" })}, one...), []adapters.Session{session("a", nil)}, nil},
	} {
		var over []*Record
		for i := range c.records {
			over = append(over, &c.records[i])
		}
		found := sessionsOfEnded(over, c.records, c.sessions, at.Add(time.Hour))
		if len(found) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, found, c.want)
		}
		for id, want := range c.want {
			if found[id] != want {
				t.Errorf("%s: %v, want %v", name, found, c.want)
			}
		}
	}
}

// TestOldSessionOfAnEndedLaunch: the session's last activity is older than what is asked for, its process ended later. The
// agent knows how it ended.
func TestOldSessionOfAnEndedLaunch(t *testing.T) {
	s := newStage(t, &fake{chooses: true})
	r := s.start(nil).Record
	s.until("its session", func() bool { _, err := os.Stat(filepath.Join(s.store, "chosen")); return err == nil })
	core := app.New(app.Config{Adapters: []adapters.Adapter{s.fake}, Table: s.table, Launches: s.Launches, Since: 24 * time.Hour})
	if x := s.onlyShown(core); x.ID != "chosen" || x.Status != adapters.Working {
		t.Fatalf("%+v", x)
	}
	s.signal(r.Process, proc.Kill)
	s.until("its end", func() bool { return !s.table.Alive(r.Process) })
	s.old.Store(true)
	if _, _, err := s.End(t.Context(), r.ID, nil, ""); err != nil {
		t.Fatal(err)
	}
	if x := s.onlyShown(core); x.ID != "chosen" || x.Outcome != adapters.Completed || x.Evidence != "its file" || x.Launch == nil || x.Launch.Unlisted {
		t.Errorf("%+v, %+v", x, x.Launch)
	}
}

// TestSessionOfAShortLaunchIsRemembered: a launch that ended before anybody looked is not shown by its record once its
// agent has listed its session, also after the user has removed the session.
func TestSessionOfAShortLaunchIsRemembered(t *testing.T) {
	s := newStage(t, &fake{chooses: true})
	r := s.start(nil).Record
	file := filepath.Join(s.store, "chosen")
	s.until("its session", func() bool { _, err := os.Stat(file); return err == nil })
	s.signal(r.Process, proc.Kill)
	s.until("its end", func() bool { return !s.table.Alive(r.Process) })
	if _, _, err := s.End(t.Context(), r.ID, nil, ""); err != nil {
		t.Fatal(err)
	}
	core := s.core()
	if x := s.onlyShown(core); x.ID != "chosen" || x.Launch == nil || x.Launch.Unlisted {
		t.Fatalf("%+v, %+v", x, x.Launch)
	}
	if learned, err := s.Learn(t.Context(), s.only(), core.Snapshot()); err != nil || !learned.Seen {
		t.Errorf("%+v, %v", learned, err)
	}
	must.Do(t, os.Remove(file))
	if snap := core.Refresh(t.Context()); len(snap.Sessions()) != 0 {
		t.Errorf("%+v", snap.Sessions())
	}
}
