package focus

import (
	"path/filepath"
	"slices"
	"strings"
)

// appleScript shows the tab of a terminal of macOS. The device of the terminal and the folder are its arguments, so that nothing has
// to be quoted. The scripts were not run: they follow the dictionaries of Terminal, iTerm2 3.5 and Ghostty 1.3.
type appleScript struct {
	title string
	lines []string
}

// scriptShown is what a script prints if it has shown the tab.
const scriptShown = "shown"

// arguments returns the arguments of osascript.
func (s *appleScript) arguments(terminal, folder string) (args []string) {
	for _, line := range s.lines {
		args = append(args, "-e", line)
	}
	return append(args, terminal, folder)
}

// bundleOf returns the application's folder of a program, such as "/Applications/iTerm.app"; empty: it is in none, or in one that is not
// where applications are installed: to raise one that an agent has made would start it, outside of the agent's sandbox.
func bundleOf(exe, home string) string {
	before, _, found := strings.Cut(exe, ".app/Contents/")
	installed := func(folder string) bool { return strings.HasPrefix(exe, folder) }
	if !found || !slices.ContainsFunc([]string{"/Applications/", "/System/", "/nix/store/", filepath.Join(home, "Applications") + "/"}, installed) {
		return ""
	}
	return before + ".app"
}

// scriptFor returns the script for an application.
func scriptFor(bundle string) (appleScript, bool) {
	s, ok := appleScripts[strings.TrimSuffix(filepath.Base(bundle), ".app")]
	return s, ok
}

var appleScripts = map[string]appleScript{
	"Terminal": {"Terminal", []string{
		"on run argv",
		`tell application "Terminal"`,
		"repeat with w in windows",
		"repeat with t in tabs of w",
		"if tty of t is (item 1 of argv) then",
		"set selected of t to true",
		"set miniaturized of w to false", //nolint:misspell // AppleScript's own name
		"set index of w to 1",
		"activate",
		`return "` + scriptShown + `"`,
		"end if",
		"end repeat",
		"end repeat",
		"end tell",
		"end run",
	}},
	"iTerm": {"iTerm2", []string{
		"on run argv",
		`tell application "iTerm2"`,
		"repeat with w in windows",
		"repeat with t in tabs of w",
		"repeat with s in sessions of t",
		"if tty of s is (item 1 of argv) then",
		"select w",
		"select t",
		"select s",
		"activate",
		`return "` + scriptShown + `"`,
		"end if",
		"end repeat",
		"end repeat",
		"end repeat",
		"end tell",
		"end run",
	}},
	// Ghostty before 1.4 does not report the devices of its terminals: there the folder must belong to one alone.
	"Ghostty": {"Ghostty", []string{
		"on run argv",
		`tell application "Ghostty"`,
		"set found to {}",
		"repeat with t in terminals",
		"try",
		"if tty of t is (item 1 of argv) then",
		"focus t",
		`return "` + scriptShown + `"`,
		"end if",
		"end try",
		"if working directory of t is (item 2 of argv) then set end of found to contents of t",
		"end repeat",
		"if (count of found) is 1 then",
		"focus item 1 of found",
		`return "` + scriptShown + `"`,
		"end if",
		"end tell",
		"end run",
	}},
}
