package omp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/pane"
	"rollcall/adapters/internal/pistore"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

// home is a home with processes of oh-my-pi whose command lines and terminals the test chooses.
type home struct {
	*scene.Environment
	env   map[string]string
	clock time.Duration
	n     int
}

func newHome(t *testing.T) *home { return &home{Environment: scene.New(t), env: map[string]string{}} }

func (h *home) adapter() *Adapter {
	return New(adapters.Config{Home: h.Home, Env: func(name string) string { return h.env[name] }, Table: h.Table,
		Now: func() time.Time { return time.Now().Add(h.clock) }})
}

const (
	project = "/home/dev/proj"
	idA     = "01a22151-0713-76d1-bf56-eaa3ca6a4cf7"
	idB     = "01a22160-8a1f-759d-9ad0-bfc3ccd1aa47"
)

// start starts a process that is a second old in a terminal; 0: without one.
func (h *home) start(pts int, args ...string) proc.Identity {
	return h.Procs.Start(scene.Spec{Comm: "omp", Exe: "/opt/bun/bin/bun", CWD: project, PTS: pts, Env: []string{"HOME=" + h.Home}, Started: time.Now().Add(-time.Second),
		Args: append([]string{"bun", "/opt/omp/node_modules/.bin/omp"}, args...)})
}

// file returns the path of a session's file in the user's home.
func (h *home) file(id string) string {
	return h.Path(".omp", "agent", "sessions", "-proj", "2026-11-28T08-41-28-083Z_"+id+".jsonl")
}

// session writes a session that began at a time, with these records of the last half second.
func (h *home) session(path, id string, at time.Time, records ...string) {
	lines := []string{`{"type":"title","v":1,"title":"","updatedAt":"","pad":""}`,
		fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":%q,"cwd":%q}`, id, at.UTC().Format(time.RFC3339Nano), project)}
	for _, r := range records {
		h.n++
		lines = append(lines, strings.Replace(r, "{", fmt.Sprintf(`{"id":"%08x","timestamp":%q,`, h.n, time.Now().Add(-500*time.Millisecond).UTC().Format(time.RFC3339Nano)), 1))
	}
	h.Write(path, strings.Join(lines, "\n")+"\n")
}

// crumb writes the file of a terminal.
func (h *home) crumb(pts int, path string, more ...string) {
	h.Write(h.Path(".omp", "agent", "terminal-sessions", fmt.Sprint("pts-", pts)), strings.Join(append([]string{project, path}, more...), "\n")+"\n")
}

// want compares the only row.
func (h *home) want(what string, status adapters.Status, waits adapters.WaitingFor, outcome adapters.Outcome) adapters.Session {
	h.Helper()
	list := adaptertest.Discover(h, h.adapter(), adapters.Query{}).Sessions
	if len(list) != 1 || list[0].Status != status || list[0].WaitingFor != waits || list[0].Outcome != outcome {
		h.Fatalf("%s: want %s %s %s, got %+v", what, status, waits, outcome, list)
	}
	return list[0]
}

const (
	prompt   = `{"type":"message","message":{"role":"user","content":"go","attribution":"user"}}`
	answer   = `{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"ok"}],"model":"mock-1","stopReason":"stop"}}`
	bashCall = `{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"x"}}],"stopReason":"toolUse"}}`
	askCall  = `{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"ask","arguments":{}}],"stopReason":"toolUse"}}`
	began    = `{"type":"custom","customType":"tool_execution_start","data":{"toolCallId":"c","toolName":"bash"}}`
	result   = `{"type":"message","message":{"role":"toolResult","toolCallId":"c","content":[]}}`
	aborted  = `{"type":"message","message":{"role":"assistant","content":[],"stopReason":"aborted","errorMessage":"Interrupted by user"}}`
	jobEnded = `{"type":"custom_message","customType":"async-result","content":"done"}`
	exited   = `{"type":"custom","customType":"session_exit","data":{"reason":"dispose","kind":"normal"}}`
)

func failure(status int) string {
	return fmt.Sprintf(`{"type":"message","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"bad","errorStatus":%d}}`, status)
}

// TestNoSessionYet: before the first whole answer there is no file. The file of the terminal names it already, and an older session of the folder is not the process's.
func TestNoSessionYet(t *testing.T) {
	h := newHome(t)
	p := h.start(3)
	h.crumb(3, h.file(idA), "fresh", "cwdstat 99 304")
	row := h.want("open", adapters.Idle, "", "")
	if !adapters.IsProcessID(row.ID) || row.Process != p {
		t.Errorf("%+v", row)
	}
	h.session(h.file(idB), idB, time.Now().Add(-time.Hour), prompt, answer)
	for _, s := range adaptertest.Discover(t, h.adapter(), adapters.Query{}).Sessions {
		if s.ID == idB && s.Status != adapters.Stopped {
			t.Errorf("%+v", s)
		}
	}
	must.Do(t, os.Remove(h.file(idB)))
	h.session(h.file(idA), idA, time.Now(), prompt, answer)
	if row = h.want("answered", adapters.Idle, "", adapters.Completed); row.ID != idA || row.Process != p {
		t.Errorf("%+v", row)
	}
}

// TestRunStoresLater: a run with -p works before it has stored its session; it has no file of a terminal, and its start shows the session.
func TestRunStoresLater(t *testing.T) {
	h := newHome(t)
	p := h.start(0, "-p", "go")
	h.want("not stored", adapters.Working, "", "")
	h.session(h.file(idA), idA, time.Now().Add(-800*time.Millisecond), prompt, bashCall, began)
	if row := h.want("stored", adapters.Working, "", ""); row.Process != p || !row.Headless {
		t.Errorf("%+v", row)
	}
	h.Procs.End(p.PID)
	h.want("killed", adapters.Stopped, "", adapters.Died)
}

// TestOpenCall: a call that waits for a permission is recorded as one that runs. The mode, a command and the kind of the tool decide where they can.
func TestOpenCall(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		config string
		call   string
		child  bool
		want   adapters.Status
		waits  adapters.WaitingFor
	}{
		"default is yolo":           {call: bashCall, want: adapters.Working},
		"always-ask":                {args: []string{"--approval-mode", "always-ask"}, call: bashCall, want: adapters.Unknown},
		"joined":                    {args: []string{"--approval-mode=write"}, call: bashCall, want: adapters.Unknown},
		"a command runs":            {args: []string{"--approval-mode", "write"}, call: bashCall, child: true, want: adapters.Working},
		"settings ask":              {config: "tools:\n  approvalMode: always-ask\n", call: bashCall, want: adapters.Unknown},
		"settings ask for a tool":   {args: []string{"--yolo"}, config: "tools: {approval: {bash: prompt}}\n", call: bashCall, want: adapters.Unknown},
		"yolo beside the settings":  {args: []string{"--yolo"}, config: "tools: {approvalMode: always-ask}\n", call: bashCall, want: adapters.Working},
		"settings can't be read":    {config: "tools: [\n", call: bashCall, want: adapters.Unknown},
		"further settings":          {args: []string{"--config", "x.yml"}, call: bashCall, want: adapters.Unknown},
		"over ACP":                  {args: []string{"acp", "--approval-mode", "always-ask"}, call: bashCall, want: adapters.Unknown},
		"a question":                {call: askCall, want: adapters.Waiting, waits: adapters.ForQuestion},
		"a question where it works": {args: []string{"--approval-mode", "always-ask"}, call: askCall, want: adapters.Waiting, waits: adapters.ForQuestion},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			p := h.start(3, c.args...)
			h.session(h.file(idA), idA, time.Now(), prompt, c.call, began)
			h.crumb(3, h.file(idA))
			if c.config != "" {
				h.Write(h.Path(".omp", "agent", "config.yml"), c.config)
			}
			if c.child {
				h.Procs.Start(scene.Spec{Comm: "make", Exe: "/usr/bin/make", CWD: project, Args: []string{"make"}, PPID: p.PID, Env: []string{"HOME=" + h.Home}})
			}
			h.want(name, c.want, c.waits, "")
		})
	}
}

// TestEnds: how each turn ends, with its process and without.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		records []string
		after   time.Duration
		live    adapters.Status
		outcome adapters.Outcome // with a process, and idle
		left    adapters.Outcome // without one
	}{
		"answered":            {[]string{prompt, answer}, 0, adapters.Idle, adapters.Completed, adapters.Completed},
		"left":                {[]string{prompt, answer, exited}, 0, adapters.Idle, adapters.Completed, adapters.Completed},
		"prompted":            {[]string{prompt}, 0, adapters.Working, "", adapters.Died},
		"has results":         {[]string{prompt, bashCall, began, result}, 0, adapters.Working, "", adapters.Died},
		"interrupted":         {[]string{prompt, bashCall, began, result, aborted}, 0, adapters.Idle, adapters.Interrupted, adapters.Interrupted},
		"results after":       {[]string{prompt, bashCall, began, aborted, result}, 0, adapters.Idle, adapters.Interrupted, adapters.Interrupted},
		"refused":             {[]string{prompt, failure(400)}, 0, adapters.Idle, adapters.Failed, adapters.Failed},
		"may be tried again":  {[]string{prompt, failure(500)}, 0, adapters.Unknown, "", adapters.Failed},
		"limited":             {[]string{prompt, failure(429)}, 30 * time.Minute, adapters.Unknown, "", adapters.Failed},
		"given up":            {[]string{prompt, failure(500)}, time.Hour, adapters.Idle, adapters.Failed, adapters.Failed},
		"a job has ended":     {[]string{prompt, answer, jobEnded}, 0, adapters.Unknown, "", adapters.Completed},
		"and was answered":    {[]string{prompt, answer, jobEnded, answer}, 0, adapters.Idle, adapters.Completed, adapters.Completed},
		"no turn yet (/new)":  {nil, 0, adapters.Idle, "", ""},
		"a prompt that waits": {[]string{prompt, answer, prompt}, 0, adapters.Working, "", adapters.Died},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.clock = c.after
			p := h.start(3)
			h.session(h.file(idA), idA, time.Now(), c.records...)
			h.crumb(3, h.file(idA))
			h.want("live", c.live, "", c.outcome)
			h.Procs.End(p.PID)
			h.want("gone", adapters.Stopped, "", c.left)
			h.clock = 0
			h.Procs.Start(scene.Spec{Comm: "omp", Exe: "/opt/omp/omp", CWD: project, PTS: 4, Args: []string{"omp", "--resume", idA}, Env: []string{"HOME=" + h.Home},
				Started: time.Now().Add(time.Second)})
			if s := h.want("resumed", adapters.Idle, "", c.left); s.Process.IsZero() {
				t.Errorf("no process: %+v", s)
			}
		})
	}
}

// TestTitle: the terminal's title says what the files leave open. It stays that of a wait while a command runs that the user has allowed.
func TestTitle(t *testing.T) {
	for _, c := range []struct {
		title  string
		shows  bool
		record string
		want   adapters.Status
	}{
		{"π ⠹ proj", false, bashCall, adapters.Working}, {"π ! proj", true, bashCall, adapters.Waiting}, {"π ! proj", false, bashCall, adapters.Unknown},
		{"π: proj", true, bashCall, adapters.Unknown}, {"vim", true, bashCall, adapters.Unknown}, {"π > proj", false, bashCall, adapters.Unknown},
		{"π ⠹ proj", false, failure(500), adapters.Working}, {"π > proj", false, failure(500), adapters.Idle}, {"vim", false, failure(500), adapters.Unknown},
		{"π ⠹ proj", false, jobEnded, adapters.Working}, {"π > proj", false, jobEnded, adapters.Idle},
		{"π ⠹ proj", false, "", adapters.Working}, {"π > proj", false, "", adapters.Idle}, {"π ! proj", false, "", adapters.Unknown},
	} {
		h := newHome(t)
		p := h.start(3, "--approval-mode", "always-ask")
		h.crumb(3, h.file(idA))
		if c.record != "" {
			h.session(h.file(idA), idA, time.Now(), prompt, answer, c.record)
		}
		d := h.adapter().begin(t.Context(), adapters.Query{})
		d.list()
		d.read()
		d.match()
		d.titles = map[proc.Identity]pane.Title{p: {Text: c.title, Shows: c.shows}}
		got := d.processRow(d.processes[0]).Status
		if c.record != "" {
			got = d.decide(d.sessions[0]).Status
		}
		if got != c.want {
			t.Errorf("%q, %v, %.40s: %s, want %s", c.title, c.shows, c.record, got, c.want)
		}
	}
}

// TestTerminals: two in one folder are told apart by their terminals. A file of a terminal that is older than the process is another one's, and that of a terminal
// that two processes have is of either.
func TestTerminals(t *testing.T) {
	h := newHome(t)
	h.session(h.file(idA), idA, time.Now(), prompt)
	h.session(h.file(idB), idB, time.Now(), prompt, answer)
	h.crumb(3, h.file(idA))
	h.crumb(4, h.file(idB))
	a, b := h.start(3), h.start(4)
	want := map[string]proc.Identity{idA: a, idB: b}
	check := func(what string, status adapters.Status) {
		t.Helper()
		for _, s := range adaptertest.Discover(t, h.adapter(), adapters.Query{}).Sessions {
			if id, is := want[s.ID]; is && (s.Process != id || s.ID == idA && s.Status != status) {
				t.Errorf("%s: %+v", what, s)
			}
		}
	}
	check("each its own", adapters.Working)
	c := h.start(3) // the first one is in the background of its terminal
	want[idA] = proc.Identity{}
	check("two in a terminal", adapters.Unknown)
	h.Procs.Open(a.PID, h.file(idA))
	want[idA] = a
	check("an open file", adapters.Working)
	h.Procs.End(a.PID)
	want[idA] = proc.Identity{}
	old := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(h.Path(".omp", "agent", "terminal-sessions", "pts-3"), old, old))
	h.session(h.file(idA), idA, old.Add(-time.Hour), prompt)
	check("an older file", adapters.Stopped)
	h.Procs.End(c.PID)
}

// TestNeverPi: a process of one of the two agents is never the other's.
func TestNeverPi(t *testing.T) {
	h := newHome(t)
	dir := h.Path("node_modules")
	for _, name := range []string{"@oh-my-pi", "@earendil-works"} {
		h.Write(filepath.Join(dir, name, "pi-coding-agent", "dist", "cli.js"), "")
	}
	must.Do(t, os.MkdirAll(filepath.Join(dir, ".bin"), 0o755))
	must.Do(t, os.Symlink("../@oh-my-pi/pi-coding-agent/dist/cli.js", filepath.Join(dir, ".bin", "omp")))
	must.Do(t, os.Symlink("../@earendil-works/pi-coding-agent/dist/cli.js", filepath.Join(dir, ".bin", "pi")))
	isOmp := map[int]bool{}
	start := func(omp bool, comm, exe string, args ...string) {
		id := h.Procs.Start(scene.Spec{Comm: comm, Exe: exe, CWD: project, Args: args, Env: []string{"HOME=" + h.Home}, Started: time.Now().Add(-time.Minute)})
		isOmp[id.PID] = omp
	}
	start(true, "omp", "/opt/bun", "bun", dir+"/.bin/omp")
	start(true, "bun", "/opt/bun", "bun", dir+"/.bin/omp", "-c") // it has not named itself yet
	start(true, "bun", "/opt/bun", "bun", "run", dir+"/@oh-my-pi/pi-coding-agent/dist/cli.js")
	start(true, "omp", "/opt/omp", "omp")
	start(false, "bun", "/opt/bun", "bun", dir+"/.bin/pi")
	start(false, "pi", "/opt/bun", "pi", "", "")
	start(false, "node", "/opt/node", "node", dir+"/@earendil-works/pi-coding-agent/dist/cli.js")
	start(false, "pi", "/opt/node", "pi", "", "")
	rows, err := h.Table.List(t.Context())
	must.Do(t, err)
	for _, row := range rows {
		omp, listed := isOmp[row.PID]
		if mine := h.adapter().OwnsProcess(row); listed && mine != omp {
			t.Errorf("%s %d: mine %v", row.Comm, row.PID, mine)
		}
		pi := pistore.New(adapters.Description{Name: pistore.Pi}, adapters.Config{Home: h.Home, Env: h.Env, Table: h.Table})
		if its := pi.OwnsProcess(row); listed && its == omp {
			t.Errorf("%s %d: Pi's %v", row.Comm, row.PID, its)
		}
	}
}

// TestKinds: the same program is more than conversations.
func TestKinds(t *testing.T) {
	for line, want := range map[string]bool{"": true, "fix the bug": true, "config": false, "ps": false, "acp": true, "--model m config": false, "--resume x": true,
		"--version": false, "__omp_worker_daemon_broker": false, "-p -- config": true, "--export x.jsonl": false, "launch": true, "join link": true} {
		h := newHome(t)
		id := h.start(0, strings.Fields(line)...)
		row, err := h.Table.Find(id.PID)
		must.Do(t, err)
		if got := h.adapter().OwnsProcess(row); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// TestFloor: what an open turn of an older version does is not known. The version is in the package of the script.
func TestFloor(t *testing.T) {
	h := newHome(t)
	script := h.Path("lib", "@oh-my-pi", "pi-coding-agent", "dist", "cli.js")
	h.Write(script, "")
	h.Write(filepath.Join(script, "..", "..", "package.json"), `{"version":"17.2.9"}`)
	h.Procs.Start(scene.Spec{Comm: "omp", Exe: "/opt/bun", CWD: project, PTS: 3, Args: []string{"bun", script}, Env: []string{"HOME=" + h.Home}, Started: time.Now().Add(-time.Second)})
	h.session(h.file(idA), idA, time.Now(), prompt)
	h.crumb(3, h.file(idA))
	h.want("an older version", adapters.Unknown, "", "")
	h.Write(filepath.Join(script, "..", "..", "package.json"), `{"version":"18.2.3"}`)
	if s := h.want("the floor", adapters.Working, "", ""); s.Version != "18.2.3" {
		t.Error(s.Version)
	}
	text, err := os.ReadFile(h.file(idA))
	must.Do(t, err)
	h.Write(h.file(idA), strings.Replace(string(text), `"version":3`, `"version":4`, 1))
	h.want("a newer form", adapters.Unknown, "", "")
}

// TestPlaces: the homes that the variables, a profile and a registry of further sessions name.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "data", "omp"), 0o755))
	for name, c := range map[string]struct {
		env         map[string]string
		profile     string
		home, state string
	}{
		"default":      {nil, "", "/home/dev/.omp/agent", "/home/dev/.omp/agent"},
		"renamed":      {map[string]string{"PI_CONFIG_DIR": ".pi2"}, "", "/home/dev/.pi2/agent", "/home/dev/.pi2/agent"},
		"moved":        {map[string]string{homeVariable: "/srv/agent"}, "", "/srv/agent", "/srv/agent"},
		"profile":      {map[string]string{"OMP_PROFILE": "work", homeVariable: "/srv/agent"}, "", "/home/dev/.omp/profiles/work/agent", "/home/dev/.omp/profiles/work/agent"},
		"by option":    {map[string]string{"OMP_PROFILE": "work"}, "play", "/home/dev/.omp/profiles/play/agent", "/home/dev/.omp/profiles/play/agent"},
		"no profile":   {map[string]string{"PI_PROFILE": "default"}, "", "/home/dev/.omp/agent", "/home/dev/.omp/agent"},
		"XDG":          {map[string]string{"XDG_DATA_HOME": dir + "/data", "XDG_STATE_HOME": dir + "/none"}, "", dir + "/data/omp", "/home/dev/.omp/agent"},
		"XDG, profile": {map[string]string{"XDG_DATA_HOME": dir + "/data", "OMP_PROFILE": "x"}, "", "/home/dev/.omp/profiles/x/agent", "/home/dev/.omp/profiles/x/agent"},
	} {
		if home, state := placesOf(func(n string) string { return c.env[n] }, "/home/dev", c.profile); home != c.home || state != c.state {
			t.Errorf("%s: %s, %s", name, home, state)
		}
	}
	h := newHome(t)
	h.session(h.Path(".omp", "profiles", "work", "agent", "sessions", "-proj", "x_"+idA+".jsonl"), idA, time.Now(), prompt, answer)
	elsewhere := filepath.Join(dir, "2026_"+idB+".jsonl")
	h.session(elsewhere, idB, time.Now(), prompt, answer)
	h.Write(h.Path(".omp", "agent", "custom-session-files", "abc"), elsewhere)
	if list := adaptertest.Discover(t, h.adapter(), adapters.Query{}).Sessions; len(list) != 2 {
		t.Errorf("%+v", list)
	}
}

// TestSubagents: the sub-agents of a session are rows while they run, and what they used counts once.
func TestSubagents(t *testing.T) {
	h := newHome(t)
	const task = `{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"task","arguments":{}}],"usage":{"output":5},"stopReason":"toolUse"}}`
	used := strings.Replace(answer, `"model"`, `"usage":{"output":7},"model"`, 1)
	p := h.start(3)
	h.session(h.file(idA), idA, time.Now(), prompt, task, began)
	h.crumb(3, h.file(idA))
	sub := filepath.Join(strings.TrimSuffix(h.file(idA), ".jsonl"), "Aa.jsonl")
	h.session(sub, idB, time.Now(), prompt, used, prompt)
	rows := func() (list []adapters.Session, output int64) {
		for _, s := range adaptertest.Discover(t, h.adapter(), adapters.Query{Usage: true}).Sessions {
			list = append(list, s)
			for _, u := range s.Usage {
				output += u.Tokens.Output
			}
		}
		return list, output
	}
	list, output := rows()
	if len(list) != 2 || list[1].Parent != idA || list[1].Status != adapters.Working || list[1].Process != p || !list[1].Shared || output != 12 {
		t.Errorf("running: %d, %+v", output, list)
	}
	h.session(sub, idB, time.Now(), prompt, used)
	if list, output = rows(); len(list) != 1 || output != 12 {
		t.Errorf("over: %d, %+v", output, list)
	}
	h.session(sub, idB, time.Now(), prompt, used, prompt)
	h.session(h.file(idA), idA, time.Now(), prompt, task, began, result, answer)
	if list, _ = rows(); len(list) != 1 || list[0].Status != adapters.Idle {
		t.Errorf("left behind: %+v", list)
	}
}

// TestFork: the entries that a fork repeats count for the session that it was made from.
func TestFork(t *testing.T) {
	h := newHome(t)
	used := strings.Replace(answer, `"model"`, `"usage":{"output":7,"cost":{"total":0.5}},"model"`, 1)
	h.session(h.file(idA), idA, time.Now().Add(-time.Hour), prompt, used)
	text, err := os.ReadFile(h.file(idA))
	must.Do(t, err)
	head := fmt.Sprintf(`"id":%q,"parentSession":%q,"timestamp":%q`, idB, idA, time.Now().UTC().Format(time.RFC3339Nano))
	lines := strings.Split(string(text), "\n")
	lines[1] = fmt.Sprintf(`{"type":"session","version":3,%s,"cwd":%q}`, head, project)
	h.Write(h.file(idB), strings.Join(lines, "\n"))
	output, cost := int64(0), 0.0
	list := adaptertest.Discover(t, h.adapter(), adapters.Query{Usage: true}).Sessions
	for _, s := range list {
		cost += s.CostUSD
		for _, u := range s.Usage {
			output += u.Tokens.Output
		}
	}
	if len(list) != 2 || output != 7 || cost != 0.5 {
		t.Errorf("%d, %v: %+v", output, cost, list)
	}
}

// TestReasoning: what was thought is a part of the output, by a name of its own (18.2.3; Pi calls it "reasoning").
func TestReasoning(t *testing.T) {
	h := newHome(t)
	used := strings.Replace(answer, `"model"`, `"usage":{"input":1,"output":7,"reasoningTokens":3},"model"`, 1)
	h.session(h.file(idA), idA, time.Now(), prompt, used)
	s := adaptertest.Discover(t, h.adapter(), adapters.Query{Usage: true}).Sessions[0]
	if want := (adapters.Tokens{Input: 1, Output: 7, Reasoning: 3}); s.Tokens == nil || *s.Tokens != want || s.Usage[0].Tokens != want {
		t.Errorf("%+v, %+v", s.Tokens, s.Usage)
	}
}
