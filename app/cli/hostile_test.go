package cli

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app/present"
)

// hostile is text that would take over a terminal.
const hostile = "\x1b[2J\x1b]0;pwn\x07\u009b31mred\u202Eevil\r\nnew line\x00\x7f\u2028<b>&amp;\U000E0041\u00AD"

func TestHostileText(t *testing.T) {
	s := full()
	s.Title = hostile
	s.CWD = "/home/" + hostile
	s.Branch = hostile
	s.Model = hostile
	s.LastPrompt = hostile
	s.Evidence = hostile
	s.Version = hostile
	s.Remote = hostile
	s.Container = hostile
	s.ID = "x" + hostile
	s.Parent = hostile
	s.FirstPrompt = hostile
	bad := codex()
	bad.err = adapters.Unreadable("/home/"+hostile, errors.New(hostile))
	d := deps(claude(s), bad)
	for _, args := range []string{"list", "list --json", "status x", "status x --json", "doctor", "doctor --json", "status " + hostile, "list --agent " + hostile} {
		r := run(t, d, strings.Fields(args)...)
		for name, text := range map[string]string{"out": r.out, "err": r.err} {
			for _, c := range text {
				if c != '\n' && (c < 0x20 || c >= 0x7f && c <= 0x9f || c == 0x202e || c == 0x2028 || c == 0xe0041 || c == 0xad) {
					t.Errorf("%s: %s has %U: %q", args, name, c, text)
					break
				}
			}
		}
	}
	r := run(t, d, "list", "--json")
	var got struct{ Sessions []struct{ Title string } }
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || got.Sessions[0].Title != hostile {
		t.Errorf("JSON changed the text: %q, %v", got.Sessions, err)
	}
}

func TestColour(t *testing.T) {
	d := deps(claude(full()))
	env := map[string]string{}
	d.Getenv = func(k string) string { return env[k] }
	colour := func(s Streams, args ...string) bool {
		return strings.Contains(runOn(t.Context(), t, s, d, append([]string{"list"}, args...)...).out, "\x1b[")
	}
	if colour(Streams{}) || !colour(Streams{Color: true, Width: 80}) || colour(Streams{Color: true}, "--color", "never") || !colour(Streams{}, "--color", "always") {
		t.Error("colour without a terminal, or none on one")
	}
	env["NO_COLOR"] = "1"
	if colour(Streams{Color: true}) || !colour(Streams{}, "--color", "always") {
		t.Error("NO_COLOR")
	}
	plain := runOn(t.Context(), t, Streams{}, d, "list").out
	env["NO_COLOR"] = ""
	painted := runOn(t.Context(), t, Streams{Color: true}, d, "list").out
	if present.Line(plain) != present.Line(painted) {
		t.Errorf("colour changes the text:\n%s\n%s", plain, painted)
	}
}
