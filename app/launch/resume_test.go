package launch

import (
	"os/exec"
	"testing"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned"
	"rollcall/proc"
)

func TestQuotingSurvivesAPOSIXShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no POSIX shell here")
	}
	for _, word := range []string{"", "plain", "/a/b-c_d.e", "with space", "it's", "$HOME `id` $(id)", `back\slash "double"`,
		"new\nline", "-dash", "~", "*", "a;b&c|d>e", "#x", "!x", "ünï 漢字", "'", "''"} {
		out, err := exec.Command(sh, "-c", "printf %s "+owned.Quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q became %q (%v)", word, out, err)
		}
	}
}

// TestCheckResume: what is not a session of this machine's files cannot be resumed from here.
func TestCheckResume(t *testing.T) {
	process := adapters.ProcessSession(adapters.Codex, proc.Process{Identity: proc.Identity{PID: 4711, Start: 9}}, "/w")
	for _, s := range []adapters.Session{{Agent: adapters.Codex, CWD: "/w"}, {ID: "abc", Agent: adapters.Codex}, process,
		{ID: "abc", Agent: adapters.OpenClaw, CWD: "/w", Remote: "gateway"}, {ID: "abc", Agent: adapters.Codex, CWD: "/w", Container: "4026532456"}} {
		if CheckResume(&app.Session{Session: s}) == nil {
			t.Errorf("%+v can be resumed", s)
		}
	}
	if err := CheckResume(&app.Session{Session: adapters.Session{ID: "abc", Agent: adapters.Codex, CWD: "/w"}}); err != nil {
		t.Error(err)
	}
}
