package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// The modes are those of the help of the program that is installed now.
func TestModes(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	a := New(adapters.Config{Home: t.TempDir()})
	names := func() (names []string) {
		for _, m := range a.Modes() {
			names = append(names, m.Name)
		}
		return names
	}
	var known []string
	for _, m := range knownModes {
		known = append(known, m.Name)
	}
	if got := names(); !slices.Equal(got, known) {
		t.Errorf("not installed: %v", got)
	}
	install := func(help string) {
		path := filepath.Join(bin, "claude")
		must.Do(t, os.WriteFile(path+".new", []byte("#!/bin/sh\n[ \"$*\" = --help ] && cat <<'E'\n"+help+"\nE\n"), 0o755))
		must.Do(t, os.Rename(path+".new", path))
	}
	// Modes doesn't wait for a busy machine.
	eventually := func(want []string) {
		t.Helper()
		var got []string
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			got = names()
			if slices.Equal(got, want) {
				return
			}
		}
		t.Errorf("modes %v, want %v", got, want)
	}
	install(`  --permission-mode <mode>              Permission mode to use for the session
                                        (choices: "acceptEdits", "auto",
                                        "manual", "plan", "boldly")
  --other <x> (choices: "a")`)
	eventually([]string{"acceptEdits", "auto", "manual", "plan", "boldly", "default"})
	for _, m := range a.Modes() {
		if m.Says == "" || m.Unsafe != (m.Name == "boldly") {
			t.Errorf("%+v", m)
		}
	}
	install(`  --permission-mode <mode>  (choices: "acceptEdits", "default")`)
	eventually([]string{"acceptEdits", "default"})
	install("another program")
	eventually(known)
}

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
