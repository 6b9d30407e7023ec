package cli

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// inHome returns the path of a folder in a home folder that is absolute on each system.
func inHome(name string) string {
	if runtime.GOOS == "windows" {
		return `C:\home\dev\` + name
	}
	return "/home/dev/" + name
}

// shownHome is how the command line shows that home: ~ is not used on Windows.
var shownHome = map[bool]string{true: `C:\home\dev\`, false: "~/"}[runtime.GOOS == "windows"]

// TestAccounts: where sessions of an agent are in more than one home, each is shown with the name of its home.
func TestAccounts(t *testing.T) {
	work, own := simple("aaaaaaaa-1", agentname.Codex, adapters.Idle, time.Minute), simple("bbbbbbbb-1", agentname.Codex, adapters.Idle, time.Minute)
	work.Home, own.Home = inHome(".codex-w"), inHome(".codex")
	work.Tokens, own.Tokens = &adapters.Tokens{Input: 70}, &adapters.Tokens{Input: 5}
	alone := simple("cccccccc-1", agentname.ClaudeCode, adapters.Idle, time.Minute)
	alone.Home = inHome(".claude")
	d := deps(codex(work, own), claude(alone))
	d.Settings = func() (settings.Settings, error) {
		return settings.Settings{Homes: map[adapters.Name]settings.Homes{agentname.Codex: {{Path: work.Home, Name: "work"}}}}, nil
	}
	r := run(t, d, "list")
	if !strings.Contains(r.out, "Codex work ") || !strings.Contains(r.out, "Codex codex ") || !strings.Contains(r.out, "Claude Code  ") {
		t.Errorf("%s", r.out)
	}
	if r := run(t, d, "status", "aaaaaaaa-1"); !strings.Contains(r.out, "work, "+shownHome+".codex-w\n") {
		t.Errorf("%s", r.out)
	}
	var doc document
	must.Do(t, json.Unmarshal([]byte(run(t, d, "list", "--json").out), &doc))
	for _, s := range doc.Sessions {
		if want := map[string]string{work.ID: "work", own.ID: "codex"}[s.ID]; s.Account != want || s.Home == "" {
			t.Errorf("%s: account %q of home %q", s.ID, s.Account, s.Home)
		}
	}
	if r := run(t, d, "usage", "--by", "home", "--csv"); !strings.Contains(r.out, inHome(".codex-w")+",1,0,70,") || !strings.Contains(r.out, inHome(".codex")+",1,0,5,") {
		t.Errorf("%s", r.out)
	}
	if r := run(t, d, "launch", "codex", "claude-code", "--home", "work", "-p", "x"); r.code != Usage || !strings.Contains(r.err, "--home needs one agent") {
		t.Errorf("%d %s", r.code, r.err)
	}
	if r := run(t, d, "launch", "codex", "--home", "other", "-p", "x"); r.code != Usage || !strings.Contains(r.err, `no home is called "other"; homes: work, codex`) {
		t.Errorf("%d %s", r.code, r.err)
	}
}
