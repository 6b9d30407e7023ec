package claudecode

import (
	"fmt"
	"path/filepath"
	"testing"

	"rollcall/adapters"
)

// A session of another home is resumed there, and one of an older version in the folder of its transcript.
func TestResumeWhereItIs(t *testing.T) {
	w := newFixture(t)
	a := New(w.config)
	other := filepath.Join(w.home, "work")
	for home, want := range map[string]string{w.path(): "", other: "CLAUDE_CONFIG_DIR=" + other, "": ""} {
		c, err := a.Command("claude", adapters.Task{Resume: id(1), Home: home, Prompt: "hi"})
		if got := fmt.Sprint(c.Set); err != nil || got != fmt.Sprint([]string{want}) && (want != "" || c.Set != nil) {
			t.Errorf("%s: %v, %v", home, c.Set, err)
		}
	}
	for version, want := range map[string]string{"2.0.76": "/home/dev/proj", "2.1.332": ""} {
		w.transcript(1, ofVersion(version, promptLine("hi"), inFolder("/home/dev/proj/sub", doneLine("m")))...)
		sessions, _, _ := w.discover(adapters.Query{})
		if s := sessions[id(1)]; s.ResumeIn != want || s.CWD != "/home/dev/proj/sub" {
			t.Errorf("%s: in %q, resumed in %q, want %q", version, s.CWD, s.ResumeIn, want)
		}
	}
}
