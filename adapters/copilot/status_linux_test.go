package copilot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/textmatch"
)

const (
	idA = "aaaaaaaa-0000-4000-8000-000000000001"
	idB = "bbbbbbbb-0000-4000-8000-000000000002"
)

// fixture is a home with sessions of any version and form.
type fixture struct{ *scene.Environment }

func newFixture(t *testing.T) fixture { return fixture{scene.New(t)} }

func (w fixture) adapter() *Adapter {
	return New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
}

func (w fixture) dir(id string) string { return w.Path(".copilot", "session-state", id) }

// put writes a session whose records are "type {data}", a second apart, the last one now.
func (w fixture) put(id, version string, records ...string) string {
	path := filepath.Join(w.dir(id), "events.jsonl")
	at := time.Now().Add(-time.Duration(len(records)) * time.Second)
	text := line(at, "session.start", fmt.Sprintf(`{"sessionId":%q,"copilotVersion":%q,"startTime":%q,"context":{"cwd":"/home/dev/proj","branch":"main"}}`, id, version, at.UTC().Format(time.RFC3339Nano)))
	for i, r := range records {
		kind, data, _ := strings.Cut(r, " ")
		if data == "" {
			data = "{}"
		}
		if r == damaged {
			text += `{"type":"user.mess` + "\x00\n"
			continue
		}
		text += line(at.Add(time.Duration(i+1)*time.Second), kind, data)
	}
	w.Write(path, text)
	return path
}

func line(at time.Time, kind, data string) string {
	return fmt.Sprintf(`{"type":%q,"data":%s,"id":"id-%d","timestamp":%q,"parentId":null}`+"\n", kind, data, at.UnixNano(), at.UTC().Format(time.RFC3339Nano))
}

// run starts a process of Copilot that began some time ago, and has a lock in a session's folder.
func (w fixture) run(id string, ago time.Duration, spec scene.Spec) int {
	spec.Comm = "MainThread"
	spec.Exe = scene.CopilotProgram
	spec.CWD = "/home/dev/proj"
	spec.Started = time.Now().Add(-ago)
	spec.Args = append([]string{scene.CopilotProgram}, spec.Args...)
	spec.Env = append(spec.Env, "HOME="+w.Home)
	p := w.Procs.Start(spec)
	if id != "" {
		w.Write(filepath.Join(w.dir(id), fmt.Sprintf("inuse.%d.lock", p.PID)), fmt.Sprint(p.PID))
	}
	return p.PID
}

// one asks for all sessions and returns that with the id.
func (w fixture) one(t *testing.T, id string) adapters.Session {
	t.Helper()
	for _, s := range adaptertest.Discover(t, w.adapter(), adapters.Query{Totals: true, Usage: true}).Sessions {
		if s.ID == id {
			return s
		}
	}
	t.Fatalf("session %s is missing", id)
	return adapters.Session{}
}

const (
	prompted = `user.message {"content":"do it"}`
	begun    = `assistant.turn_start {"turnId":"0"}`
	called   = `tool.execution_start {"toolCallId":"c1","toolName":"bash","arguments":{"command":"make"}}`
	asked    = `permission.requested {"requestId":"r1","permissionRequest":{"kind":"shell","toolCallId":"c1","fullCommandText":"make"}}`
	ended    = `assistant.turn_end {"turnId":"0"}`
	answered = `assistant.message {"content":"done"}`
	damaged  = "damaged"
)

// The status of a session with a process, by its records.
func TestRunning(t *testing.T) {
	tests := map[string]struct {
		version string
		records []string
		want    string
	}{
		"prompt":                      {"1.0.102", []string{prompted}, "working"},
		"asked":                       {"1.0.60", []string{prompted, begun, called, asked}, "waiting permission"},
		"answered":                    {"1.0.60", []string{prompted, begun, called, asked, `permission.completed {"requestId":"r1"}`}, "working"},
		"another request is answered": {"1.0.60", []string{prompted, begun, called, asked, `permission.completed {"requestId":"r2"}`}, "waiting permission"},
		"question":                    {"1.0.102", []string{prompted, begun, `tool.execution_start {"toolCallId":"c1","toolName":"ask_user","arguments":{"message":"Which?"}}`}, "waiting question"},
		"plan":                        {"1.0.102", []string{prompted, begun, `tool.execution_start {"toolCallId":"c1","toolName":"exit_plan_mode","arguments":{}}`}, "waiting permission"},
		"a call below the floor":      {"1.0.34", []string{prompted, begun, called}, "unknown"},
		"ended below the floor":       {"1.0.34", []string{prompted, begun, ended}, "idle completed"},
		"ended":                       {"1.0.102", []string{prompted, begun, ended}, "idle completed"},
		"ended, with steering":        {"1.0.102", []string{prompted, begun, `user.message {"content":"and","delivery":"steering"}`, ended}, "idle completed"},
		"between two calls":           {"1.0.102", []string{prompted, begun, called, `tool.execution_complete {"toolCallId":"c1"}`, ended}, "working"},
		"interrupted":                 {"1.0.102", []string{prompted, begun, "abort", ended}, "idle interrupted"},
		"failed":                      {"1.0.102", []string{prompted, begun, ended, `session.error {"message":"400 no"}`}, "idle failed"},
		"an error of a server":        {"1.0.102", []string{prompted, begun, answered, ended, `session.error {"errorType":"mcp","message":"no"}`}, "idle completed"},
		"a failed login":              {"1.0.102", []string{prompted, begun, answered, ended, `session.error {"errorType":"authentication","message":"no"}`}, "idle completed"},
		"of a server in a turn":       {"1.0.102", []string{prompted, begun, `session.error {"errorType":"mcp","message":"no"}`}, "working"},
		"of the open turn":            {"1.0.102", []string{prompted, begun, `session.error {"errorType":"quota","message":"no"}`}, "idle failed"},
		"before the first turn":       {"1.0.102", []string{`session.error {"errorType":"mcp","message":"no"}`}, "idle"},
		"a damaged line after it":     {"1.0.102", []string{prompted, begun, answered, ended, damaged}, "idle completed"},
		"a damaged line in it":        {"1.0.102", []string{prompted, begun, damaged}, "unknown"},
		"ended after a damaged line":  {"1.0.102", []string{prompted, begun, damaged, answered, ended}, "idle completed"},
		"begun after a damaged line":  {"1.0.102", []string{prompted, begun, answered, ended, damaged, begun}, "working"},
		"retried":                     {"1.0.102", []string{prompted, begun, `session.error {"message":"400 no"}`, begun}, "working"},
		"a notification":              {"1.0.102", []string{prompted, begun, ended, "system.notification", begun}, "working"},
		"resumed in a turn":           {"1.0.102", []string{prompted, begun, "session.resume"}, "idle"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.put(idA, test.version, test.records...)
			w.run(idA, time.Minute, scene.Spec{})
			s := w.one(t, idA)
			if got := strings.Join(strings.Fields(fmt.Sprint(s.Status, " ", s.WaitingFor, " ", s.Outcome)), " "); got != test.want {
				t.Errorf("%s, want %s: %s", got, test.want, s.Evidence)
			}
		})
	}
}

// A sub-agent's request waits for the user, too; what else it does is not the session's.
func TestSubAgent(t *testing.T) {
	w := newFixture(t)
	path := w.put(idA, "1.0.102", prompted, begun)
	w.run(idA, time.Minute, scene.Spec{})
	sub := func(record string) { w.Append(path, strings.Replace(record, `"data"`, `"agentId":"x","data"`, 1)) }
	now := func(kind, data string) string { return strings.TrimSpace(line(time.Now(), kind, data)) }
	sub(now("user.message", `{"content":"child"}`))
	sub(now("assistant.turn_end", `{}`))
	sub(now("session.usage_record", `{"usage":{"inputTokens":15,"cacheReadTokens":5,"outputTokens":3}}`))
	s := w.one(t, idA)
	if s.Status != adapters.Working || s.LastPrompt != "do it" || *s.Tokens != (adapters.Tokens{Input: 10, CacheRead: 5, Output: 3}) {
		t.Errorf("%+v, tokens %+v", s, s.Tokens)
	}
	sub(now("permission.requested", `{"requestId":"r","permissionRequest":{"kind":"shell","fullCommandText":"rm x"}}`))
	if s := w.one(t, idA); s.Status != adapters.Waiting || !strings.Contains(s.Evidence, "rm x") {
		t.Errorf("%+v", s)
	}
}

// A lock that another process with the same pid left does not count.
func TestForgedLocks(t *testing.T) {
	w := newFixture(t)
	w.put(idA, "1.0.102", prompted, begun, ended)
	pid := w.run(idA, time.Minute, scene.Spec{})
	lock := filepath.Join(w.dir(idA), fmt.Sprintf("inuse.%d.lock", pid))
	old := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(lock, old, old))
	if s := w.one(t, idA); s.Status != adapters.Stopped {
		t.Errorf("older than the process: %+v", s)
	}
	w.Write(filepath.Join(w.dir(idB), "events.jsonl"), strings.ReplaceAll(line(time.Now(), "session.start", `{"sessionId":"x"}`), "x", idB))
	other := w.Procs.Start(scene.Spec{Comm: "MainThread", Exe: "/usr/bin/node", CWD: "/home/dev/proj", Args: []string{"node"}, Started: old})
	w.Write(filepath.Join(w.dir(idB), fmt.Sprintf("inuse.%d.lock", other.PID)), fmt.Sprint(other.PID))
	if s := w.one(t, idB); s.Status != adapters.Stopped {
		t.Errorf("of another program: %+v", s)
	}
	w.Write(filepath.Join(w.dir(idA), fmt.Sprintf("inuse.%d.hold", pid)), "")
	w.Write(lock, "new")
	if s := w.one(t, idA); s.Status != adapters.Stopped {
		t.Errorf("its file is not held: %+v", s)
	}
}

// A session that is resumed while another process has it: which of them works is not recorded.
func TestResumedTwice(t *testing.T) {
	w := newFixture(t)
	w.put(idA, "1.0.102", prompted, begun, ended)
	first := w.run(idA, time.Minute, scene.Spec{})
	second := w.run("", time.Minute, scene.Spec{Args: []string{"--resume=" + idA}})
	roll := adaptertest.Discover(t, w.adapter(), adapters.Query{})
	for _, s := range roll.Sessions {
		if s.ID == idA && s.Process.PID != first || s.ID != idA && (s.Process.PID != second || s.Status != adapters.Unknown) {
			t.Errorf("%+v", s)
		}
	}
	if len(roll.Sessions) != 2 {
		t.Errorf("%d rows", len(roll.Sessions))
	}
	w.Procs.End(first)
	if s := w.one(t, idA); s.Status != adapters.Idle || s.Process.PID != second {
		t.Errorf("without the first: %+v", s)
	}
}

// A process that hosts several sessions is not signalled for one of them.
func TestShared(t *testing.T) {
	w := newFixture(t)
	files := []string{filepath.Join(w.dir(idA), "inuse.4002.hold"), filepath.Join(w.dir(idB), "inuse.4002.hold")}
	for i, id := range []string{idA, idB} {
		w.put(id, "1.0.102", prompted, begun)
		w.Write(files[i], "")
		if s := w.one(t, id); s.Shared {
			t.Errorf("without a process: %+v", s)
		}
	}
	w.run("", time.Minute, scene.Spec{Args: []string{"--acp"}, Files: files})
	for _, id := range []string{idA, idB} {
		if s := w.one(t, id); s.Status != adapters.Working || !s.Shared {
			t.Errorf("%+v", s)
		}
	}
}

// A process with another home is found there, and its session stays listed after its end.
func TestOtherHome(t *testing.T) {
	w := newFixture(t)
	home := w.Path("elsewhere")
	from := w.put(idA, "1.0.102", prompted, begun)
	must.Do(t, os.MkdirAll(filepath.Join(home, "session-state"), 0o755))
	pid := w.run(idA, time.Minute, scene.Spec{Env: []string{"COPILOT_HOME=" + home}})
	must.Do(t, os.Rename(filepath.Dir(from), filepath.Join(home, "session-state", idA)))
	a := w.adapter()
	for _, want := range []adapters.Status{adapters.Working, adapters.Stopped} {
		roll := adaptertest.Discover(t, a, adapters.Query{})
		if len(roll.Sessions) != 1 || roll.Sessions[0].Status != want {
			t.Errorf("want %s: %+v", want, roll.Sessions)
		}
		w.Procs.End(pid)
	}
	named := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Homes: func() []string { return []string{home} }})
	if roll := adaptertest.Discover(t, named, adapters.Query{}); len(roll.Sessions) != 1 {
		t.Errorf("a home that the user named: %+v", roll.Sessions)
	}
}

// Whatever lies in the place of one session's file, the other is right, and the trouble is named.
func TestBadFiles(t *testing.T) {
	w := newFixture(t)
	w.put(idB, "1.0.102", prompted, begun, ended)
	for name, put := range map[string]func(path string) error{
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link loop": func(path string) error { return os.Symlink(path, path) },
		"folder":    func(path string) error { return os.Mkdir(path, 0o700) },
		"device":    func(path string) error { return os.Symlink("/dev/zero", path) },
		"xml":       func(path string) error { return os.WriteFile(path, []byte("<session/>\n"), 0o600) },
	} {
		path := w.put(idA, "1.0.102")
		must.Do(t, errors.Join(os.Remove(path), put(path)))
		roll, err := w.adapter().Discover(t.Context(), adapters.Query{})
		if err == nil || !strings.Contains(err.Error(), path) || len(roll.Sessions) != 1 || roll.Sessions[0].ID != idB {
			t.Errorf("%s: %v, %+v", name, err, roll.Sessions)
		}
		if _, err := w.adapter().Conversations(t.Context(), time.Time{}); name != "xml" && (err == nil || !strings.Contains(err.Error(), path)) {
			t.Errorf("%s: %v, so that a search finds nothing in it", name, err)
		}
		_ = os.RemoveAll(path)
	}
}

// Hostile text stays what it is, cut.
func TestHostileText(t *testing.T) {
	w := newFixture(t)
	w.put(idA, "\x1b]0;x", `user.message {"content":"`+strings.Repeat(`\u001b[31m`, 5000)+`"}`, `moon.shine {}`, begun, ended)
	w.Write(filepath.Join(w.dir(idA), "workspace.yaml"), "name: \"a\\e[2J\"\ncwd: 'it''s'\nuser_named: true\nbranch: |-\n  two\n  lines\n")
	roll, err := w.adapter().Discover(t.Context(), adapters.Query{})
	if err != nil || len(roll.Sessions) != 1 || len(roll.Sessions[0].FirstPrompt) > textLimit || roll.Skipped["unknown record type moonshine"] != 1 {
		t.Errorf("%v, %+v, skipped %v", err, roll.Sessions, roll.Skipped)
	}
	space, err := readWorkspace(filepath.Join(w.dir(idA), "workspace.yaml"))
	if err != nil || space.cwd != "it's" || space.branch != "two\nlines" {
		t.Errorf("%+v, %v", space, err)
	}
}

// The tokens of 1.0.34 are known from the sum at the end of its only process.
func TestTokensOfOldVersion(t *testing.T) {
	w := newFixture(t)
	said := `assistant.message {"content":"hi","outputTokens":34}`
	sum := `session.shutdown {"modelMetrics":{"mock-1":{"usage":{"inputTokens":1220,"outputTokens":34,"cacheReadTokens":1000}}}}`
	w.put(idA, "1.0.34", prompted, begun, said, ended, sum)
	if s := w.one(t, idA); s.Tokens == nil || *s.Tokens != (adapters.Tokens{Input: 220, Output: 34, CacheRead: 1000}) || s.Usage[0].Model != "mock-1" {
		t.Errorf("%+v", s)
	}
	for _, more := range [][]string{{prompted, said}, {prompted, said, sum}} {
		w.put(idA, "1.0.34", slices.Concat([]string{prompted, said, sum}, more)...)
		if s := w.one(t, idA); s.Tokens != nil || s.Usage != nil {
			t.Errorf("after a second process: %+v", s)
		}
	}
}

// usageRecord is a record of usage as 1.0.102 writes it. Its number is that of the answers in the file when the process began, and of those of the process.
func usageRecord(of string, sequence, output int) string {
	return fmt.Sprintf(`session.usage_record {"usage":{"model":"m","inputTokens":10,"outputTokens":%d,"accounting":{"sourceSessionId":%q,"sequence":%d}}}`, output, of, sequence)
}

// output is the output that counts for a session.
func (w fixture) output(t *testing.T, id string) (sum int64) {
	t.Helper()
	for _, u := range w.one(t, id).Usage {
		sum += u.Tokens.Output
	}
	return sum
}

// The answers that a fork repeats count for the session in which they were given, and for the fork once that is gone.
func TestForkCountsOnce(t *testing.T) {
	w := newFixture(t)
	file := w.put(idA, "1.0.102", prompted, begun, usageRecord(idA, 1, 3), ended, prompted, begun, usageRecord(idA, 2, 3), ended)
	turn := strings.SplitAfter(string(must.Get(os.ReadFile(file))(t)), "\n")[1:5] // its copies have the ids of the records
	w.put(idB, "1.0.102", prompted, begun, usageRecord(idB, 1, 30), ended)
	start, own, _ := strings.Cut(string(must.Get(os.ReadFile(filepath.Join(w.dir(idB), "events.jsonl")))(t)), "\n")
	w.Write(filepath.Join(w.dir(idB), "events.jsonl"), start+"\n"+strings.Join(turn, "")+own)
	if a, b := w.output(t, idA), w.output(t, idB); a != 6 || b != 30 {
		t.Errorf("%d and %d, want 6 and 30", a, b)
	}
	must.Do(t, os.RemoveAll(w.dir(idA)))
	if b := w.output(t, idB); b != 33 {
		t.Errorf("alone: %d, want 33", b)
	}
	roll := adaptertest.Discover(t, w.adapter(), adapters.Query{Totals: true, Usage: true})
	if turns, _ := roll.Sessions[0].Turns(); turns != 2 {
		t.Errorf("%d turns", turns)
	}
}

// Two processes that go on with one session, in one home or in two, give their answers the same numbers: each answer counts.
func TestSameNumbersCount(t *testing.T) {
	w := newFixture(t)
	first := []string{prompted, begun, usageRecord(idA, 1, 3), ended}
	w.put(idA, "1.0.102", append(first, prompted, begun, usageRecord(idA, 2, 50), prompted, begun, usageRecord(idA, 2, 400), ended)...)
	if a, tokens := w.output(t, idA), w.one(t, idA).Tokens; a != 453 || tokens.Output != 453 {
		t.Errorf("in one home: %d, of %+v, want 453", a, tokens)
	}
	second := filepath.Join(w.Home, "second")
	copied := filepath.Join(second, "session-state", idA, "events.jsonl")
	lines := strings.SplitAfter(string(must.Get(os.ReadFile(filepath.Join(w.dir(idA), "events.jsonl")))(t)), "\n")
	more := line(time.Now(), "user.message", `{"content":"elsewhere"}`) +
		line(time.Now().Add(time.Millisecond), "session.usage_record", strings.TrimPrefix(usageRecord(idA, 2, 7000), "session.usage_record "))
	w.Write(copied, strings.Join(lines[:5], "")+more)
	both := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Homes: func() []string { return []string{second} }})
	sum := int64(0)
	for _, s := range adaptertest.Discover(t, both, adapters.Query{Totals: true, Usage: true}).Sessions {
		for _, u := range s.Usage {
			sum += u.Tokens.Output
		}
	}
	if sum != 7453 {
		t.Errorf("in two homes: %d, want 7453", sum)
	}
}

// A process's own end does not make a failure a completed turn.
func TestOutcomeOfStopped(t *testing.T) {
	shut := `session.shutdown {"modelMetrics":{}}`
	for name, c := range map[string]struct {
		records []string
		want    adapters.Outcome
	}{
		"ended":                         {[]string{prompted, begun, ended, shut}, adapters.Completed},
		"interrupted":                   {[]string{prompted, begun, ended, "abort", shut}, adapters.Interrupted},
		"failed":                        {[]string{prompted, begun, ended, `session.error {"message":"no"}`, shut}, adapters.Failed},
		"killed":                        {[]string{prompted, begun, called}, adapters.Died},
		"SIGTERM, or a closed terminal": {[]string{prompted, begun, called, shut}, adapters.Died},
		"SIGTERM before the first word": {[]string{prompted, shut}, adapters.Died},
		"SIGTERM in 1.0.34":             {[]string{prompted, begun, shut, "abort"}, adapters.Interrupted},
	} {
		w := newFixture(t)
		w.put(idA, "1.0.102", c.records...)
		if s := w.one(t, idA); s.Status != adapters.Stopped || s.Outcome != c.want {
			t.Errorf("%s: %s %s, want %s: %s", name, s.Status, s.Outcome, c.want, s.Evidence)
		}
	}
}

// TestOpenedAgain: a session whose turn died is opened again without a prompt, and closed: its last turn died before and after that.
func TestOpenedAgain(t *testing.T) {
	w := newFixture(t)
	path := w.put(idA, "1.0.102", prompted, begun, called)
	pid := w.run(idA, -time.Minute, scene.Spec{})
	later := time.Now().Add(time.Minute)
	must.Do(t, os.Chtimes(filepath.Join(w.dir(idA), fmt.Sprintf("inuse.%d.lock", pid)), later, later))
	if s := w.one(t, idA); s.Status != adapters.Idle || s.Outcome != adapters.Died {
		t.Errorf("opened: %s %s: %s", s.Status, s.Outcome, s.Evidence)
	}
	w.Append(path, strings.TrimSpace(line(time.Now(), "session.shutdown", `{"modelMetrics":{}}`)))
	w.Procs.End(pid)
	if s := w.one(t, idA); s.Status != adapters.Stopped || s.Outcome != adapters.Died {
		t.Errorf("closed: %s %s: %s", s.Status, s.Outcome, s.Evidence)
	}
}

// Only the innermost of Copilot's processes is owned, and none of another program with its name.
func TestOwnsProcess(t *testing.T) {
	w := newFixture(t)
	outer := w.run("", time.Minute, scene.Spec{})
	innermost := w.run("", time.Minute, scene.Spec{PPID: outer, Env: []string{"COPILOT_RUN_APP=1"}})
	tool := w.run("", 0, scene.Spec{PPID: innermost})
	helper := w.run("", time.Minute, scene.Spec{Args: []string{"mcp", "list"}})
	amazon := w.Procs.Start(scene.Spec{Comm: "copilot", Exe: "/usr/local/bin/copilot", CWD: "/", Args: []string{"copilot"}}).PID
	want := map[int]bool{innermost: true, outer: true, tool: false, helper: false, amazon: false}
	a := w.adapter()
	for pid, owned := range want {
		p, err := w.Table.Find(pid)
		if err != nil || a.OwnsProcess(p) != owned {
			t.Errorf("pid %d: %v, want owned %v", pid, err, owned)
		}
	}
	roll, err := a.Discover(t.Context(), adapters.Query{})
	if err != nil || len(roll.Sessions) != 1 || roll.Sessions[0].Process.PID != innermost {
		t.Errorf("%v, %+v", err, roll.Sessions)
	}
}

func TestSearch(t *testing.T) {
	w := newFixture(t)
	w.put(idA, "1.0.102", prompted, begun, called, `tool.execution_complete {"toolCallId":"c1","result":{"content":"needle"}}`, `assistant.message {"content":"found the Needle"}`, ended)
	list, err := w.adapter().Conversations(t.Context(), time.Time{})
	if err != nil || len(list) != 1 {
		t.Fatal(err, list)
	}
	pattern, err := textmatch.Text("needle")
	must.Do(t, err)
	for tools, want := range map[bool]int{false: 1, true: 2} {
		var hits []adapters.Hit
		q := &adapters.SearchQuery{Pattern: pattern, Tools: tools}
		if _, err := list[0].Search(context.Background(), q, func(h adapters.Hit) error { hits = append(hits, h); return nil }); err != nil || len(hits) != want {
			t.Errorf("tools %v: %v, %+v", tools, err, hits)
		}
	}
}
