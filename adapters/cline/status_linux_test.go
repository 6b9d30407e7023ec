package cline

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

// changed replays a recording whose manifest and conversation were changed before, and returns its session.
func changed(t *testing.T, recording, id string, change func(manifest, conversation string) (string, string)) adapters.Session {
	t.Helper()
	r := adaptertest.Replay(t, "testdata/recordings/"+recording)
	folder := filepath.Join(r.Home, ".cline", "data", "sessions", id)
	paths := []string{filepath.Join(folder, id+".json"), filepath.Join(folder, id+".messages.json")}
	var texts [2]string
	var times [2]time.Time
	for i, path := range paths {
		text, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil {
			t.Fatal(err, statErr)
		}
		texts[i], times[i] = string(text), info.ModTime()
	}
	texts[0], texts[1] = change(texts[0], texts[1])
	for i, path := range paths {
		must.Do(t, errors.Join(os.WriteFile(path, []byte(texts[i]), 0o600), os.Chtimes(path, times[i], times[i])))
	}
	sessions := adaptertest.Discover(t, New(r.Config()), adapters.Query{IDs: []string{id}}).Sessions
	if len(sessions) != 1 {
		t.Fatalf("%+v", sessions)
	}
	return sessions[0]
}

func status(text, to string) string {
	return regexp.MustCompile(`"status": *"[a-z]+"`).ReplaceAllString(text, `"status": "`+to+`"`)
}

// marked marks a manifest as the hub does at its start.
func marked(manifest string) string {
	return strings.Replace(status(manifest, "failed"), `"metadata": {`, `"metadata": {"terminal_marker":"failed_external_process_exit",`, 1)
}

func TestStatuses(t *testing.T) {
	const oneshot, killed, idle = "1795615781897_lnddu", "1795615804237_psxb0", "1795615896409_xqzcl"
	keep := func(text string) string { return text }
	for name, tt := range map[string]struct {
		recording, id      string
		manifest, messages func(string) string
		status             adapters.Status
		outcome            adapters.Outcome
		evidence           string
	}{
		"cancelled":                             {"cline-3.0.65-oneshot", oneshot, func(m string) string { return status(m, "cancelled") }, keep, adapters.Stopped, adapters.Interrupted, "cancelled"},
		"failed":                                {"cline-3.0.65-oneshot", oneshot, func(m string) string { return status(m, "failed") }, keep, adapters.Stopped, adapters.Failed, "failed"},
		"killed, found by a hub":                {"cline-3.0.65-killed-midturn", killed, marked, keep, adapters.Stopped, adapters.Died, "a hub found"},
		"killed after its turn, found by a hub": {"cline-3.0.65-oneshot", oneshot, marked, keep, adapters.Stopped, adapters.Completed, "a hub found"},
		"an unknown status":                     {"cline-3.0.65-tui-idle", idle, func(m string) string { return status(m, "dreaming") }, keep, adapters.Unknown, "", "not known"},
		"an error": {"cline-3.0.65-tui-idle", idle, keep, func(m string) string {
			return strings.Replace(m, `"role": "assistant",`, `"role": "assistant", "metadata": {"displayRole": "error"},`, 1)
		}, adapters.Idle, adapters.Failed, "error"},
		"interrupted before an answer": {"cline-3.0.65-tui-idle", idle, keep, func(m string) string {
			return strings.Replace(m, `"ts": 1795615900461`, `"ts": 1795615900461}, {"id": "u", "role": "user", "content": [{"type": "text", "text": "go on"}], "ts": 1795615900470`, 1)
		}, adapters.Idle, adapters.Interrupted, "no answer"},
		"several calls, one asks": {"cline-3.0.65-question", "1795616043085_r004s", keep, func(m string) string {
			return strings.Replace(m, `{"type": "tool_use", "id": "call_19"`, `{"type": "tool_use", "id": "call_18", "name": "run_commands", "input": {}}, {"type": "tool_use", "id": "call_19"`, 1)
		}, adapters.Unknown, "", "of 2 open calls 1 ask"},
		"went on after a hub found it": {"cline-3.0.65-tui-idle", idle, func(m string) string { return status(marked(m), "idle") }, keep, adapters.Idle, adapters.Completed, ""},
		"a run that ends with a call": {"cline-3.0.65-oneshot", oneshot, keep, func(m string) string {
			return strings.Replace(m, `], "system_prompt"`, `, {"id": "u", "role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "done"}], "ts": 1795615782560}], "system_prompt"`, 1)
		}, adapters.Stopped, adapters.Completed, "completed"},
		"no conversation": {"cline-3.0.65-tui-idle", idle, keep, func(string) string { return `{"messages":[]}` }, adapters.Idle, adapters.Completed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := changed(t, tt.recording, tt.id, func(m, c string) (string, string) { return tt.manifest(m), tt.messages(c) })
			if s.Status != tt.status || s.Outcome != tt.outcome || !strings.Contains(s.Evidence, tt.evidence) {
				t.Errorf("%s %s: %s", s.Status, s.Outcome, s.Evidence)
			}
		})
	}
}

// A process that resumed a session names it in its command line: the manifest keeps the pid of the first process, and a hub that starts
// then marks the session as failed.
func TestResumedAndMarked(t *testing.T) {
	w := scene.New(t)
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
	s := scene.Cline(w).Start("/home/dev/proj", "one")
	s.Answer("fine")
	s.Exit()
	s.Resume("two")
	text, err := os.ReadFile(s.File)
	must.Do(t, err)
	w.Write(s.File, strings.Replace(strings.Replace(string(text), `"running"`, `"failed"`, 1), `"metadata":{`, `"metadata":{"terminal_marker":"failed_external_process_exit",`, 1))
	got := adaptertest.Discover(t, a, adapters.Query{}).Sessions
	if len(got) != 1 || got[0].Status != adapters.Unknown || got[0].Process != s.Process || !strings.Contains(got[0].Evidence, "marked the session as failed") {
		t.Errorf("%+v", got)
	}
}

// The hub that starts with a terminal that resumes a killed session marks the session as failed: nothing was asked in the terminal yet.
func TestResumedAfterKill(t *testing.T) {
	w := scene.New(t)
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
	s := scene.Cline(w).Start("/home/dev/proj", "one")
	s.Kill()
	text, err := os.ReadFile(s.File)
	must.Do(t, err)
	w.Write(s.File, strings.Replace(strings.Replace(string(text), `"running"`, `"failed"`, 1), `"metadata":{`, `"metadata":{"terminal_marker":"failed_external_process_exit",`, 1))
	resume := func(args ...string) (adapters.Session, proc.Identity) {
		p := w.Procs.Start(scene.Spec{Comm: "cline", Exe: scene.ClineProgram, CWD: s.CWD, Env: []string{"HOME=" + w.Home}, Started: time.Now().Add(-time.Second),
			Args: append([]string{scene.ClineProgram, "--id", s.ID}, args...)})
		got := adaptertest.Discover(t, a, adapters.Query{IDs: []string{s.ID}}).Sessions
		if len(got) != 1 {
			t.Fatalf("%+v", got)
		}
		return got[0], p
	}
	got, p := resume()
	if got.Status != adapters.Idle || got.Outcome != adapters.Died || got.Process != p {
		t.Errorf("%+v", got)
	}
	w.Procs.End(p.PID)
	got, _ = resume("go on with it")
	if got.Status != adapters.Unknown {
		t.Errorf("with a prompt on its command line: %+v", got)
	}
}

// hubIn starts a hub in the scene.
func hubIn(w *scene.Environment, started time.Time) proc.Identity {
	return w.Procs.Start(scene.Spec{Comm: "cline", Exe: scene.ClineProgram, CWD: "/home/dev", Env: []string{"HOME=" + w.Home}, Started: started,
		Args: []string{scene.ClineProgram, "--cline-hub-daemon", "--cwd", "/home/dev", "--host", "127.0.0.1", "--port", "25463", "--pathname", "/hub"}})
}

// A session that the hub hosts, and whose terminal is gone, may be at work or not.
func TestHostedWithoutTerminal(t *testing.T) {
	w := scene.New(t)
	hub := hubIn(w, time.Now().Add(-time.Minute))
	s := scene.Cline(w).Start("/home/dev/proj", "one")
	rewriteFile(t, s.File, regexp.MustCompile(`"pid":\d+`), `"pid":`+strconv.Itoa(hub.PID))
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
	got := adaptertest.Discover(t, a, adapters.Query{}).Sessions
	if len(got) != 1 || got[0].Status != adapters.Working || got[0].Process != hub || !got[0].Shared || got[0].Unattended {
		t.Errorf("%+v", got)
	}
	w.Procs.End(s.Process.PID)
	got = adaptertest.Discover(t, a, adapters.Query{}).Sessions
	if len(got) != 1 || got[0].Status != adapters.Unknown || !got[0].Unattended || !strings.Contains(got[0].Evidence, "no terminal") {
		t.Errorf("%+v", got)
	}
}

// A terminal takes up any session by /history, and the manifest keeps the pid of the first process.
func TestTakenUp(t *testing.T) {
	w := scene.New(t)
	agent := scene.Cline(w)
	unfinished, ended := agent.Start("/home/dev/proj", "one"), agent.Start("/home/dev/proj", "two")
	ended.Answer("fine")
	ended.Exit()
	w.Procs.End(unfinished.Process.PID)
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
	state := func(id string) adapters.Session {
		t.Helper()
		for _, s := range adaptertest.Discover(t, a, adapters.Query{}).Sessions {
			if s.ID == id {
				return s
			}
		}
		return adapters.Session{}
	}
	if s := state(unfinished.ID); s.Status != adapters.Stopped || s.Outcome != adapters.Died {
		t.Errorf("%s %s: %s", s.Status, s.Outcome, s.Evidence)
	}
	w.Procs.Start(scene.Spec{Comm: "cline", Exe: scene.ClineProgram, CWD: "/home/dev/proj", Env: []string{"HOME=" + w.Home}, Args: []string{"cline"}, Started: time.Now().Add(-time.Hour)})
	if s := state(unfinished.ID); s.Status != adapters.Unknown || !strings.Contains(s.Evidence, "/history") {
		t.Errorf("%s %s: %s", s.Status, s.Outcome, s.Evidence)
	}
	if s := state(ended.ID); s.Status != adapters.Stopped || s.Outcome != adapters.Completed {
		t.Errorf("%s %s: %s", s.Status, s.Outcome, s.Evidence)
	}
}

func rewriteFile(t *testing.T, path string, pattern *regexp.Regexp, with string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, pattern.ReplaceAll(text, []byte(with)), 0o600)
	}
	must.Do(t, err)
}

// The database has the sub-agents: one that can't be read is named, and the sessions stay.
func TestDamagedDatabase(t *testing.T) {
	for name, text := range map[string]string{"noise": strings.Repeat("noise", 2000), "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			r := adaptertest.Replay(t, "testdata/recordings/cline-3.0.65-subagent")
			path := filepath.Join(r.Home, ".cline", "data", "db", "sessions.db")
			must.Do(t, os.WriteFile(path, []byte(text), 0o600))
			roll, err := New(r.Config()).Discover(t.Context(), adapters.Query{})
			if len(roll.Sessions) != 1 || roll.Sessions[0].Status != adapters.Working {
				t.Errorf("%+v", roll.Sessions)
			}
			if !errors.Is(err, adapters.ErrFormat) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestCommand(t *testing.T) {
	a := New(adapters.Config{Home: t.TempDir()})
	for want, task := range map[string]adapters.Task{
		"--auto-approve false":                          {Prompt: "do it"},
		"--auto-approve false --plan --model m":         {Prompt: "do it", Mode: "plan", Model: "m"},
		"--auto-approve true --tui do it":               {Prompt: "do it", Mode: "auto-approve", Terminal: true},
		"--auto-approve false --tui --id 1_a  auth":     {Prompt: "auth", Resume: "1_a", Terminal: true},
		"--auto-approve false --tui  --version of what": {Prompt: "--version of what", Terminal: true},
	} {
		c, err := a.Command("/bin/cline", task)
		if got := strings.Join(c.Args, " "); err != nil || got != want || !task.Terminal && c.Stdin != task.Prompt {
			t.Errorf("%q with %q, %v; want %q", got, c.Stdin, err, want)
		}
	}
	if _, err := a.Command("/bin/cline", adapters.Task{Prompt: "x", Resume: "1_a"}); err == nil || !strings.Contains(err.Error(), "--terminal") {
		t.Errorf("resumes in the background: %v", err)
	}
	for _, m := range a.Modes() {
		c, _ := a.Command("/bin/cline", adapters.Task{Mode: m.Name, Prompt: "x"})
		if auto := strings.Contains(strings.Join(c.Args, " "), "--auto-approve true"); auto != m.Unsafe {
			t.Errorf("mode %s: %v", m.Name, c.Args)
		}
	}
}

// TestInstalledNames: Cline is known under each name that a way of installing it gives its process.
func TestInstalledNames(t *testing.T) {
	for _, c := range []struct {
		comm, exe, first string
		want             bool
	}{
		{"cline", scene.ClineProgram, "cline", true},
		{".cline", "/usr/lib/node_modules/cline/bin/.cline", "/usr/lib/node_modules/cline/bin/.cline", true}, // npm install -g
		{".cline-wrapped", "/nix/store/aaaa-cline-3.0.65/bin/.cline-wrapped", "/run/current-system/sw/bin/cline", true},
		{"cline.exe", "/opt/cline.exe", "cline", true},
		{"node", "/usr/bin/node", "node", false},  // the script that starts it
		{"cline", "/usr/bin/node", "node", false}, // the same with Node.js in its first line
		{"cline", "/usr/bin/bash", "/bin/bash", false},
		{"cline-backup", "/opt/cline-backup", "cline-backup", false},
	} {
		w := scene.New(t)
		id := w.Procs.Start(scene.Spec{Comm: c.comm, Exe: c.exe, CWD: "/home/dev/p", Args: []string{c.first, "say hello"}, Env: []string{"HOME=" + w.Home}})
		a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
		p, err := w.Table.Find(id.PID)
		must.Do(t, err)
		if got := a.OwnsProcess(p); got != c.want {
			t.Errorf("%s (%s): owned %v", c.comm, c.exe, got)
		}
		roll, err := a.Discover(t.Context(), adapters.Query{})
		if rows := len(roll.Sessions); rows != 0 && !c.want || rows != 1 && c.want {
			t.Errorf("%s (%s): %d rows, %v", c.comm, c.exe, rows, err)
		}
	}
}
