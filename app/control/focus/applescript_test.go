//go:build !windows

package focus

import (
	"slices"
	"strings"
	"testing"
)

// TestAppleScripts: each script gets the device and the folder as arguments, and its blocks are closed.
func TestAppleScripts(t *testing.T) {
	for exe, title := range map[string]string{
		"/System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal": "Terminal",
		"/Applications/iTerm.app/Contents/MacOS/iTerm2":                       "iTerm2",
		"/Applications/Ghostty.app/Contents/MacOS/ghostty":                    "Ghostty",
	} {
		s, ok := scriptFor(bundleOf(exe, "/Users/dev"))
		if !ok || s.title != title {
			t.Fatalf("%s: %q, %v", exe, s.title, ok)
		}
		args := s.arguments("/dev/ttys003", "/tmp/\"; do shell script \"x")
		if n := len(args); n != 2*len(s.lines)+2 || !slices.Equal(args[n-2:], []string{"/dev/ttys003", "/tmp/\"; do shell script \"x"}) {
			t.Errorf("%s: %q", title, args)
		}
		depth := 0
		for i, line := range s.lines {
			switch {
			case args[2*i] != "-e" || args[2*i+1] != line:
				t.Errorf("line %d is %q", i, args[2*i:2*i+2])
			case strings.HasPrefix(line, "end "):
				depth--
			case strings.HasPrefix(line, "on run"), strings.HasPrefix(line, "tell "), strings.HasPrefix(line, "repeat "), line == "try", strings.HasSuffix(line, " then"):
				depth++
			}
		}
		if depth != 0 {
			t.Errorf("%s: %d blocks are open", title, depth)
		}
	}
	for _, exe := range []string{"/usr/bin/xterm", "x.app/Contents/MacOS/x", "/Users/dev/proj/iTerm.app/Contents/MacOS/iTerm2", "/tmp/Applications/x.app/Contents/MacOS/x", ""} {
		if got := bundleOf(exe, "/Users/dev"); got != "" {
			t.Errorf("%q is in %q", exe, got)
		}
	}
	if got := bundleOf("/Users/dev/Applications/x.app/Contents/MacOS/x", "/Users/dev"); got != "/Users/dev/Applications/x.app" {
		t.Errorf("the user's own applications: %q", got)
	}
	if _, ok := scriptFor("/Applications/Alacritty.app"); ok {
		t.Error("a script for an application that has no dictionary")
	}
}
