package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/textmatch"
)

// TestACP: the threads of codex-acp are live as long as it has them open, also when its editor has ended, and nobody can stop
// them from outside.
func TestACP(t *testing.T) {
	home := home(t)
	idle := write(t, rolloutPath(home, threadA), newScript(threadA, "0.137.0").turn("a", "x").text())
	p := startCodex(t, acpProgram, nil)
	asks := scriptAt(time.Now().UTC(), threadB, "0.137.0").atOnce().start("a").context("m").prompt("x").
		call("c", `{"cmd":"touch y","sandbox_permissions":"require_escalated"}`)
	p.do("open", idle).do("open", write(t, rolloutPath(home, threadB), asks.text()))
	a := atNow(home)
	a.Now = func() time.Time { return asks.at.Add(2 * time.Second) }
	pid := p.cmd.Process.Pid
	sessions := look(t, a, home, adapters.Query{})
	want(t, sessions[threadA], adapters.Idle, adapters.Completed, pid)
	if s := sessions[threadB]; s.WaitingFor != adapters.ForPermission || !s.Shared || s.Process.PID != pid || !strings.Contains(s.Evidence, "codex-acp") {
		t.Errorf("%+v", s)
	}
	if row, err := a.Table.Find(pid); err != nil || !a.OwnsProcess(row) {
		t.Errorf("codex-acp is no process of Codex's: %v", err)
	}
	if err := a.CanStop(t.Context(), sessions[threadB]); err == nil {
		t.Error("a thread of codex-acp can be stopped from outside")
	}
	appendTo(t, rolloutPath(home, threadB), strings.Join(scriptAt(asks.at, threadB, "").result("c", "ok").lines[1:], "\n")+"\n")
	want(t, look(t, a, home, adapters.Query{})[threadB], adapters.Working, "", pid)
	p.kill()
	sessions = look(t, a, home, adapters.Query{})
	want(t, sessions[threadA], adapters.Stopped, adapters.Completed, 0)
	want(t, sessions[threadB], adapters.Stopped, adapters.Died, 0)
}

// TestOnlyTheDaemonIsAsked: of the servers only the daemon takes orders from others.
func TestOnlyTheDaemonIsAsked(t *testing.T) {
	home := home(t)
	for _, c := range []struct {
		id   string
		args []string
		can  bool
	}{
		{threadA, []string{"app-server"}, false},
		{threadB, []string{"app-server", "--listen", "unix://", "--managed-daemon"}, true},
	} {
		p := startCodex(t, "codex", []string{"CODEX_HOME=" + filepath.Join(home, ".codex")}, c.args...)
		p.do("open", write(t, rolloutPath(home, c.id), newScript(c.id, "0.169.0").start("a").prompt("x").text())).do("lock", lockPath(t, home, c.id))
		a := atNow(home)
		roll, _ := a.Discover(t.Context(), adapters.Query{}) // the daemon does not answer
		if err := a.CanStop(t.Context(), below(home, roll)[c.id]); (err == nil) != c.can {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}

// TestClockSetForward: the times of records, and of the folder that a process made for itself, stay when the clock is set; the
// start of the process moves with it.
func TestClockSetForward(t *testing.T) {
	home := home(t)
	before := time.Now().Add(-time.Hour).UTC()
	own := filepath.Join(home, ".codex", "tmp", "arg0-linux", "codex-arg0AbCdEf", ".lock")
	p := startCodex(t, "codex", nil)
	p.do("open", write(t, own, "")).do("open", write(t, rolloutPath(home, threadA), scriptAt(before, threadA, "0.169.0").start("a").prompt("x").text()))
	must.Do(t, os.Chtimes(own, before, before))
	a := atNow(home)
	want(t, look(t, a, home, adapters.Query{})[threadA], adapters.Working, "", p.cmd.Process.Pid)

	earlier := before.Add(-time.Minute)
	must.Do(t, os.WriteFile(rolloutPath(home, threadA), []byte(scriptAt(earlier, threadA, "0.169.0").start("a").prompt("x").text()), 0o600))
	want(t, look(t, a, home, adapters.Query{})[threadA], adapters.Idle, adapters.Died, p.cmd.Process.Pid)
}

// TestOldFormIsNotNothing: the text of a rollout in a form that is not recognised is not searched, and that is said.
func TestOldFormIsNotNothing(t *testing.T) {
	home := home(t)
	write(t, rolloutPath(home, threadA), oldForm)
	write(t, rolloutPath(home, threadB), newScript(threadB, "0.137.0").turn("a", "nothing of that").text())
	list, err := atNow(home).Conversations(t.Context(), time.Time{})
	must.Do(t, err)
	pattern, err := textmatch.Text("walrus")
	must.Do(t, err)
	var problems []string
	for _, c := range list {
		_, err := c.Search(t.Context(), &adapters.SearchQuery{Pattern: pattern}, func(h adapters.Hit) error {
			t.Errorf("hit %+v", h)
			return nil
		})
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	if len(problems) != 1 || !strings.Contains(problems[0], threadA) || !strings.Contains(problems[0], "format not recognised") {
		t.Errorf("problems %q", problems)
	}
	sessions := look(t, atNow(home), home, adapters.Query{})
	if s := sessions[threadA]; s.Status != adapters.Stopped || !strings.Contains(s.Evidence, "format not recognised") {
		t.Errorf("%+v", s)
	}
}

// TestGuardianReview: a review by a model is nested below the thread whose requests it judges; its prompts are no turns of the
// user's, and its tokens count.
func TestGuardianReview(t *testing.T) {
	home := home(t)
	write(t, rolloutPath(home, threadA), newScript(threadA, "0.151.0").turn("a", "x").text())
	write(t, rolloutPath(home, threadB), newScript(threadB, "0.151.0", `"thread_source":"guardian_review","session_id":"`+threadA+`"`).
		turn("a", "The following is the Codex agent history").text())
	sessions := look(t, atNow(home), home, adapters.Query{Totals: true, Usage: true})
	s := sessions[threadB]
	if turns, ok := s.Turns(); s.Parent != threadA || s.Title != "Guardian review" || !s.Review || turns != 0 || !ok || s.Tokens == nil {
		t.Errorf("%d turns, %v: %+v", turns, ok, s)
	}
	s = sessions[threadA]
	if turns, _ := s.Turns(); turns != 1 || s.Review || s.Parent != "" {
		t.Errorf("%d turns: %+v", turns, s)
	}
}

// TestHeadless: the process of a thread shows whether a person uses it. Without such a process, what began the thread shows it.
func TestHeadless(t *testing.T) {
	exec := facts{head: head{byExec: true}}
	sdk := facts{head: head{client: "SDK (Python)"}}
	tui := facts{head: head{byTerminal: true}}
	for name, c := range map[string]struct {
		f        facts
		role     role // anyRole: no process
		attended bool
		want     bool
	}{
		"exec": {exec, run, false, true}, "exec, ended": {exec, anyRole, false, true}, "exec, resumed in a terminal": {exec, terminal, false, false},
		"a terminal's, resumed by exec": {tui, run, false, true}, "a terminal's": {tui, terminal, false, false}, "a terminal's, ended": {tui, anyRole, false, false},
		"an SDK's, of a server": {sdk, server, false, true}, "an SDK's, in a terminal of the daemon": {sdk, server, true, false}, "exec, of the daemon now": {exec, server, false, false},
	} {
		f := &found{facts: c.f}
		if c.role != anyRole {
			f.host = &host{role: c.role}
		}
		if got := f.isHeadless(nil, c.attended); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestArchivedAndClient: what the folder and the first line of a rollout say of its thread.
func TestArchivedAndClient(t *testing.T) {
	home := home(t)
	for originator, client := range map[string]string{"codex_vscode": "VS Code", "codex_sdk_ts": "SDK (TypeScript)", "zed": "Zed", "codex-tui": "",
		"codex_cli_rs": "", "codex_exec": "", "my-editor": "my-editor"} {
		text := strings.Replace(newScript(threadA, "0.169.0").turn("a", "x").text(), `"originator":"codex_exec"`, `"originator":"`+originator+`"`, 1)
		write(t, rolloutPath(home, threadA), text)
		if s := look(t, atNow(home), home, adapters.Query{})[threadA]; s.Host != client || s.Archived {
			t.Errorf("%s: host %q, archived %v", originator, s.Host, s.Archived)
		} else if s.Headless != (originator == "codex_sdk_ts" || originator == "codex_exec") {
			t.Errorf("%s: headless %v", originator, s.Headless)
		}
	}
	write(t, filepath.Join(home, ".codex", archive, filepath.Base(rolloutPath(home, threadB))), newScript(threadB, "0.169.0").turn("a", "x").text())
	if s := look(t, atNow(home), home, adapters.Query{})[threadB]; !s.Archived {
		t.Error("a thread in the archive is not marked")
	}
}

// TestResumeInItsHome: a thread of another home is resumed with that home.
func TestResumeInItsHome(t *testing.T) {
	own, other := home(t), home(t)
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink(filepath.Join(own, ".codex"), link))
	ownHome, otherHome := filepath.Join(own, ".codex"), filepath.Join(other, ".codex")
	for _, c := range []struct{ variable, home, want string }{
		{"", ownHome, ""},
		{"", otherHome, otherHome},
		{link, ownHome, ""},
		{link, otherHome, otherHome},
		{otherHome, ownHome, ownHome},
		{"", "", ""},
	} {
		a := New(adapters.Config{Home: own, Env: func(string) string { return c.variable }, Table: atNow(own).Table})
		command, err := a.Command("codex", adapters.Task{Resume: threadA, Home: c.home, Prompt: "x"})
		got := strings.TrimPrefix(strings.Join(command.Set, " "), "CODEX_HOME=")
		if err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c, command.Set, err)
		}
	}
}
