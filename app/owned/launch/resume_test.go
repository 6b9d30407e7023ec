package launch

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	_ "rollcall/adapters/codex" // describes its agent
	"rollcall/app"
	"rollcall/app/store"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

func TestQuotingSurvivesAPOSIXShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no POSIX shell here")
	}
	for _, word := range []string{"", "plain", "/a/b-c_d.e", "with space", "it's", "$HOME `id` $(id)", `back\slash "double"`,
		"new\nline", "-dash", "~", "*", "a;b&c|d>e", "#x", "!x", "ünï 漢字", "'", "''"} {
		out, err := exec.Command(sh, "-c", "printf %s "+store.Quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q became %q (%v)", word, out, err)
		}
	}
}

// TestCheckResume: what is not a session of this machine's files cannot be resumed from here.
func TestCheckResume(t *testing.T) {
	process := adapters.ProcessSession(agentname.Codex, proc.Process{Identity: proc.Identity{PID: 4711, Start: 9}}, "/w")
	for _, s := range []adapters.Session{{Agent: agentname.Codex, Place: adapters.Place{CWD: "/w"}}, {ID: "abc", Agent: agentname.Codex}, process,
		{ID: "--prompt=x", Agent: agentname.OpenCode, Place: adapters.Place{CWD: "/w"}}, {ID: "abc", Agent: agentname.OpenClaw, Place: adapters.Place{CWD: "/w", Remote: "gateway"}}, {ID: "abc", Agent: agentname.Codex, Place: adapters.Place{CWD: "/w", Container: "4026532456"}},
		{ID: "abc", Agent: agentname.Codex, NoResume: "its prompt was taken back", Place: adapters.Place{CWD: "/w"}}} {
		if CheckResume(&app.Session{Session: s}) == nil {
			t.Errorf("%+v can be resumed", s)
		}
	}
	if err := CheckResume(&app.Session{Session: adapters.Session{ID: "abc", Agent: agentname.Codex, Place: adapters.Place{CWD: "/w"}}}); err != nil {
		t.Error(err)
	}
	archived := adapters.Session{ID: "abc", Agent: agentname.Codex, Archived: true, Place: adapters.Place{CWD: "/w"}}
	if err := CheckResume(&app.Session{Session: archived}); err == nil || !strings.Contains(err.Error(), "codex unarchive abc") {
		t.Errorf("an archived thread: %v", err)
	}
}

// TestResumeFolderGone: a session whose folder was removed is refused in words, and can be resumed in another folder.
func TestResumeFolderGone(t *testing.T) {
	home := shortPath(t)
	writeScript(t, filepath.Join(home, ".local/bin/rollcall-test-agent"), "#!/bin/sh\n")
	request := func(dir string) Request { return Request{Task: adapters.Task{Dir: dir, Prompt: "x", Resume: "abc"}} }
	_, err := Prepare(found{program: "rollcall-test-agent"}, request(filepath.Join(home, "gone")), nil)
	if err == nil || !strings.Contains(err.Error(), "is gone") || !strings.Contains(err.Error(), "rollcall resume abc --cwd FOLDER") {
		t.Errorf("%v", err)
	}
	if _, err := Prepare(found{program: "rollcall-test-agent"}, request(home), nil); err != nil {
		t.Errorf("in another folder: %v", err)
	}
	option := request(home)
	option.Task.Resume = "--prompt=x"
	if _, err := Prepare(found{program: "rollcall-test-agent"}, option, nil); err == nil || !strings.Contains(err.Error(), "looks like an option") {
		t.Errorf("an id that its agent would read as an option: %v", err)
	}
}

// asked notes that it was asked for its modes.
type asked struct {
	found
	times *int
}

func (a asked) Modes() []adapters.Mode {
	*a.times++
	return []adapters.Mode{{Name: "boldly", Unsafe: true}, {Name: "plan"}}
}

// TestUnsafeModes: who names no mode does not wait until the agent's program has printed its modes.
func TestUnsafeModes(t *testing.T) {
	times := 0
	list := []adapters.Adapter{asked{times: &times}}
	if got := UnsafeModes(list, []Member{{Agent: agentname.Codex}}); got != nil || times != 0 {
		t.Errorf("no mode: %v, asked %d times", got, times)
	}
	got := UnsafeModes(list, []Member{{agentname.Codex, "", "boldly"}, {agentname.Codex, "m", "boldly"}, {agentname.Codex, "", "plan"}})
	if len(got) != 1 || got[0].Name != "boldly" {
		t.Errorf("%v", got)
	}
}
