// Package workflows tests the workflows of CI for what actionlint does not know.
package workflows

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rollcall/internal/must"
)

var (
	pinned = regexp.MustCompile(`uses: [\w./-]+@[0-9a-f]{40} # v\d`)
	// retired matches the labels of runners that exist no longer; macOS 14's went in November 2026.
	retired = regexp.MustCompile(`\b(macos-1[0-4]|ubuntu-(1\d|20)\.04|windows-20(16|19))\b`)
	// slashOption matches an option such as /S, of which Git's bash on Windows makes a path below its own folder.
	slashOption = regexp.MustCompile(`\s/[A-Za-z]+(\s|$)`)
	script      = regexp.MustCompile(`packaging/windows/[\w-]+`)
)

// faults returns what is wrong with the lines of a workflow.
func faults(workflow string) (list []string) {
	windows := false
	for line := range strings.Lines(workflow) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.Contains(line, "uses:") && !pinned.MatchString(line):
			list = append(list, "not pinned by a hash, with its version in a comment: "+line)
		case retired.MatchString(line):
			list = append(list, "retired runner: "+line)
		case windows && slashOption.MatchString(line):
			list = append(list, "Git's bash makes a path of this option: "+line)
		}
		if strings.Contains(line, "runs-on:") {
			windows = strings.Contains(line, "windows") || strings.Contains(line, "matrix")
		}
	}
	return list
}

func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal("no workflows")
	}
	for _, file := range files {
		content := must.Get(os.ReadFile(file))(t)
		workflow := string(content)
		for _, fault := range faults(workflow) {
			t.Errorf("%s: %s", file, fault)
		}
		for _, name := range script.FindAllString(workflow, -1) {
			checkScript(t, name)
		}
	}
}

// checkScript checks that a script for Git's bash passes options with a slash only by its function win, which keeps them as they are.
func checkScript(t *testing.T, name string) {
	t.Helper()
	content := must.Get(os.ReadFile(filepath.Join("../..", name)))(t)
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "win()") && (!strings.Contains(line, "MSYS_NO_PATHCONV=1") || !strings.Contains(line, "MSYS2_ARG_CONV_EXCL='*'")) {
			t.Errorf("%s: win lets Git's bash change options: %s", name, line)
		}
		if slashOption.MatchString(line) && !strings.Contains(line, "win ") && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "win()") {
			t.Errorf("%s: not by win: %s", name, line)
		}
	}
}

func TestFaults(t *testing.T) {
	for line, want := range map[string]int{
		"      - uses: actions/checkout@v4":                                          1,
		"      - uses: actions/checkout@" + strings.Repeat("a", 40) + " # v7.0.1":    0,
		"        os: [macos-14, windows-2022]":                                       1,
		"    runs-on: windows-2022\n      - run: setup.exe /S":                       1,
		"    runs-on: ubuntu-24.04\n      - run: setup.exe /S":                       0,
		"    runs-on: windows-2022\n      - run: packaging/windows/test-installer\n": 0,
	} {
		if got := faults(line); len(got) != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}
