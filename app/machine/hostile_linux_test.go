package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

const hello = `{"schema":1,"event":"hello","at":"2026-11-22T10:00:00Z","hello":{"version":"1","heartbeat":60}}`

func sessionLine(id, more string) string {
	quoted, _ := json.Marshal(id)
	return fmt.Sprintf(`{"schema":1,"event":"session","at":"2026-11-22T10:00:00Z","session":{"id":%s,"agent":"codex","status":"working","evidence":"e"%s}}`, quoted, more)
}

const rollLine = `{"schema":1,"event":"roll","at":"2026-11-22T10:00:01Z"}`

// ask returns what Test returns of the machine.
func (h *Host) ask(ctx context.Context, since, limit time.Duration) app.MachineRoll {
	r, _, _ := h.Test(ctx, since, limit)
	return r
}

// printing returns a machine that prints these lines and stays.
func printing(t *testing.T, lines ...string) *Host {
	t.Helper()
	return scripted(t, "cat <<'END'\n"+strings.Join(lines, "\n")+"\nEND\nexec sleep 60\n")
}

func scripted(t *testing.T, text string) *Host {
	t.Helper()
	return &Host{Machine: settings.Machine{Name: "dev", Exec: script(t, text)}}
}

// TestHostileStreams: whatever a machine sends, the answer names what is wrong, and what was right before stays.
func TestHostileStreams(t *testing.T) {
	for name, tt := range map[string]struct {
		host *Host
		want string
	}{
		"an endless line":         {scripted(t, "echo '"+hello+"'; exec tr '\\0' x </dev/zero"), "a line of more than 1 MB"},
		"an endless first line":   {scripted(t, "exec tr '\\0' x </dev/zero"), "a line of more than 1 MB"},
		"endless rows":            {scripted(t, "echo '"+hello+"'; exec yes '"+sessionLine("a", "")+"'"), "sent more than 100000 lines and no complete list"},
		"endless other lines":     {scripted(t, "exec yes 'Welcome to \x1b[31mdevbox'"), "is not Rollcall's stream, it begins with: Welcome to devbox;"},
		"malformed":               {printing(t, hello, "{\"schema\":1,\x1b]0;x\x07"), "sent a line that is not Rollcall's"},
		"a newer schema":          {printing(t, strings.Replace(hello, `"schema":1`, `"schema":2`, 1)), "too new for this one (schema 2, this one knows 1)"},
		"an old version":          {scripted(t, "echo 'rollcall: unknown flag: --snapshot' >&2; exit 2"), "too old for this one"},
		"not there":               {scripted(t, "exit 127"), "there is no Rollcall on"},
		"its own message":         {scripted(t, "echo 'rollcall: \x1b[31mno home' >&2; exit 1"), "no home"},
		"closes its output":       {scripted(t, "echo '"+hello+"'; exec >&-; exec sleep 60"), "the connection was closed"},
		"ends at once":            {scripted(t, "exit 0"), "the connection was closed"},
		"no such program":         {&Host{Machine: settings.Machine{Name: "x", Exec: []string{"/nonexistent/program"}}}, "/nonexistent/program is not installed on this machine"},
		"not a program":           {&Host{Machine: settings.Machine{Name: "x", Exec: []string{"/etc/passwd"}}}, "/etc/passwd cannot be started: permission denied"},
		"no such program in PATH": {&Host{Machine: settings.Machine{Name: "x", Exec: []string{"no-such-program-here"}}}, "no-such-program-here is not installed on this machine"},
	} {
		r := tt.host.ask(t.Context(), 0, 30*time.Second)
		text := strings.Join(r.Problems, " ")
		if r.State != app.Failed || !strings.Contains(text, tt.want) || present.Line(text) != text {
			t.Errorf("%s: %s %q, want %q", name, r.State, text, tt.want)
		}
	}
}

// TestEndsByInput: the program that connects to a machine ends because its input is closed, and is not terminated, even while it writes: what
// runs in a container outlives a client that a signal ends.
func TestEndsByInput(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	row := sessionLine("a", "")
	h := scripted(t, "trap 'echo terminated >>"+said+"; exit' TERM\necho '"+hello+"'; echo '"+row+"'; echo '"+rollLine+"'\n"+
		"i=0; while [ $i -lt 600 ]; do echo '"+row+"'; i=$((i+1)); done\nread line || echo closed >>"+said+"\n")
	if r := h.ask(t.Context(), 0, 30*time.Second); !isOK(r) {
		t.Errorf("%+v", r)
	}
	if text, err := os.ReadFile(said); string(text) != "closed\n" {
		t.Errorf("ended by %q, want its closed input; %v", text, err)
	}
}

// TestBanner: what a shell's start files print before the stream is passed over.
func TestBanner(t *testing.T) {
	r := printing(t, "Welcome!", "", "{ not json", hello, sessionLine("a", ""), rollLine).ask(t.Context(), 0, 30*time.Second)
	if !isOK(r) || len(r.Sessions) != 1 || r.Sessions[0].ID != "dev:a" {
		t.Errorf("%+v", r)
	}
}

// TestUntrustedRows: texts are cleaned, rows without a usable name are left out and counted, and what this version does not know is unknown.
func TestUntrustedRows(t *testing.T) {
	r := printing(t, hello,
		sessionLine("a", `,"title":"\u001b]0;evil\u0007<b>Fix</b>\u202e","cwd":"/src/\u001b[2Jshop","remote":"g\u0007w","pid":1,"machine":"other","stale":{"since":"x","reason":"\u001b[1mr"}`),
		sessionLine("b\x1b[31m", ""), sessionLine("", ""), sessionLine(strings.Repeat("x", 400), ""),
		strings.Replace(sessionLine("c", ""), `"working"`, `"dancing\u001b[0m"`, 1),
		strings.Replace(sessionLine("d", ""), `"codex"`, `"co dex"`, 1),
		sessionLine("e", `,"launch":{"id":"l-1","group":"g\u001b[1m","launched_at":"2026-11-22T10:00:00Z"},"parent":"a"`),
		`{"schema":1,"event":"dance","at":"2026-11-22T10:00:00Z"}`, rollLine).ask(t.Context(), 0, 30*time.Second)
	if len(r.Sessions) != 3 || len(r.Problems) != 1 || !strings.HasPrefix(r.Problems[0], "4 rows could not be used") {
		t.Fatalf("%+v", r)
	}
	a := rowOf(r, "dev:a")
	c := rowOf(r, "dev:c")
	e := rowOf(r, "dev:e")
	if a.Title != "<b>Fix</b>" || a.CWD != "/src/shop" || a.Remote != "gw" || !a.Process.IsZero() || a.Machine != "dev" || a.HasLocalFolder() || a.Stale.Reason != "r" {
		t.Errorf("%+v", a)
	}
	if c.Status != adapters.Unknown || !strings.Contains(c.Evidence, "does not know: dancing") {
		t.Errorf("%+v", c)
	}
	if e.Parent != "dev:a" || e.Launch.ID != "dev:l-1" || e.Launch.Group != "g" {
		t.Errorf("%+v %+v", e, e.Launch)
	}
}

// TestTooManyRows: a machine can't fill the memory.
func TestTooManyRows(t *testing.T) {
	h := scripted(t, `echo '`+hello+`'; i=0; while [ $i -lt 5100 ]; do echo '`+strings.Replace(sessionLine("s", ""), `"s"`, `"s'$i'"`, 1)+`'; i=$((i+1)); done; echo '`+rollLine+`'; exec sleep 60`)
	r := h.ask(t.Context(), 0, 60*time.Second)
	if len(r.Sessions) != maxSessions || r.State != app.Failed || !strings.Contains(r.Problems[0], "more than 5000 sessions") {
		t.Errorf("%d sessions, %s %q", len(r.Sessions), r.State, r.Problems)
	}
}

// TestClockThere: the times of a machine whose clock is wrong are those of this machine.
func TestClockThere(t *testing.T) {
	at := time.Now().Add(3 * time.Hour).UTC().Format(time.RFC3339)
	r := printing(t, strings.Replace(hello, "2026-11-22T10:00:00Z", at, 1), sessionLine("a", `,"last_activity_at":"`+at+`"`), rollLine).ask(t.Context(), 0, 30*time.Second)
	if age := time.Since(r.Sessions[0].LastActivityAt); age < -5*time.Second || age > time.Minute {
		t.Errorf("last activity %s ago", age)
	}
}

// TestPartialRoll: what came before the limit is shown, with the reason why more may be missing.
func TestPartialRoll(t *testing.T) {
	r := printing(t, hello, sessionLine("a", "")).ask(t.Context(), 0, 6*time.Second)
	if len(r.Sessions) != 1 || !failedWith("no complete answer in 6 s")(r) {
		t.Errorf("%+v", r)
	}
}

// TestFailedAgentThere: a session of an agent that could not be read after a reconnection stays, stale, until the agent can be read.
func TestFailedAgentThere(t *testing.T) {
	m := newMirror("dev")
	now := time.Now()
	feed := func(lines ...string) (evs []app.Event) {
		t.Helper()
		for _, text := range lines {
			l := must.Get(decode([]byte(text)))(t)
			evs = append(evs, m.take(l, now)...)
		}
		return evs
	}
	codexIs := func(state string) string {
		return `{"schema":1,"event":"adapter","at":"2026-11-22T10:00:00Z","adapter":{"name":"codex","state":"` + state + `","error":"no answer in 5 s"}}`
	}
	m.begin(now)
	if evs := feed(hello, sessionLine("a", ""), sessionLine("b", ""), codexIs("ok"), rollLine); len(evs) != 0 {
		t.Errorf("first roll: %+v", evs)
	}
	m.lose(failure("cut"))
	m.begin(now)
	if evs := feed(hello, codexIs("failed"), rollLine); len(evs) != 0 {
		t.Errorf("failed agent: %+v", evs)
	}
	if r := m.roll(); len(r.Sessions) != 2 || r.Sessions[0].Stale == nil || !failedWith("codex: no answer in 5 s")(r) {
		t.Errorf("%+v", r)
	}
	evs := feed(sessionLine("a", ""), codexIs("ok"))
	if r := m.roll(); len(r.Sessions) != 1 || r.Sessions[0].Stale != nil || !isOK(r) {
		t.Errorf("%+v", r)
	}
	if len(evs) != 1 || evs[0].Kind != app.Ended || evs[0].Session.ID != "dev:b" || evs[0].MachineProcess == "" {
		t.Errorf("%+v", evs)
	}
}

// quickAgent answers at once.
type quickAgent struct{}

func (quickAgent) Name() adapters.Name { return agentname.Codex }
func (quickAgent) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	return adapters.Roll{Sessions: []adapters.Session{{ID: "own", Agent: agentname.Codex, State: adapters.State{Status: adapters.Working, Evidence: "e"}}}}, nil
}

// TestHangingMachinesDoNotDelay: while every machine hangs, the sessions of this one are there once its own agents have answered.
func TestHangingMachinesDoNotDelay(t *testing.T) {
	core := app.New(app.Config{Adapters: []adapters.Adapter{quickAgent{}}})
	ctx, cancel := context.WithCancel(t.Context())
	var hosts []*Host
	for i := range 20 {
		h := scripted(t, "exec sleep 600")
		h.Name = fmt.Sprint("m", i)
		hosts = append(hosts, h)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Of(hosts...).Run(ctx, 0, core)
	}()
	defer func() { cancel(); <-done }()
	snap := core.Refresh(t.Context()) // returns although no machine ever answers
	if len(snap.Sessions()) != 1 || snap.Refreshing {
		t.Errorf("%+v", snap)
	}
}

// TestKeptMachines: a machine that is added while others are followed is shown, one that is removed is hidden, and a damaged file is named.
func TestKeptMachines(t *testing.T) {
	folder := store.In(filepath.Join(t.TempDir(), "machines"))
	k := KeptIn(folder)
	own := printing(t, hello, sessionLine("a", ""), rollLine).Machine
	added := settings.Machine{Name: "added", Exec: own.Exec}
	m := New([]settings.Machine{own}, nil)
	s := newScreen()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { m.Run(ctx, 0, s) })
	troubles := make(chan error, 1)
	running.Go(func() {
		_ = m.Follow(ctx, Sources{Settings: func() []settings.Machine { return []settings.Machine{own} }, Kept: k, Report: func(err error) { troubles <- err }})
	})
	s.await(t, "dev", "ok", isOK)
	must.Do(t, k.Add(ctx, added))
	if r := s.await(t, "added", "ok", isOK); len(r.Sessions) != 1 || r.Sessions[0].ID != "added:a" {
		t.Errorf("%+v", r)
	}
	if found, err := k.Remove(ctx, "added"); !found || err != nil {
		t.Error(found, err)
	}
	s.await(t, "added", "hidden", func(r app.MachineRoll) bool { return r.Name == "" })
	s.await(t, "dev", "still ok", isOK)
	must.Do(t, k.Add(ctx, settings.Machine{Name: "dev", SSH: "x"}))
	if err := <-troubles; err == nil || !strings.Contains(err.Error(), "config.toml has a machine of this name") {
		t.Error(err)
	}
	if list, err := Open([]settings.Machine{own}, k); len(list) != 1 || err == nil {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := k.Remove(ctx, "dev"); err != nil {
		t.Error(err)
	}
	if err := <-troubles; err != nil {
		t.Errorf("after the end of the trouble: %v", err)
	}
	if err := k.Add(ctx, settings.Machine{Name: "x", SSH: "-oProxyCommand=y"}); err == nil {
		t.Error("an option was stored as a host")
	}
}
