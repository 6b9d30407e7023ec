package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"rollcall/app/cli"
	"rollcall/internal/must"
)

// pages writes all pages and returns them by name.
func pages(t *testing.T) map[string][]byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "man")
	must.Do(t, write(dir))
	entries := must.Get(os.ReadDir(dir))(t)
	out := map[string][]byte{}
	for _, e := range entries {
		out[e.Name()] = must.Get(os.ReadFile(filepath.Join(dir, e.Name())))(t)
	}
	return out
}

// TestPages: every command has a page with its flags. The pages are the same on every machine and at every time.
func TestPages(t *testing.T) {
	got := pages(t)
	count := 0
	var check func(*cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				check(sub)
			}
		}
		count++
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		text := got[name+".1"]
		if !bytes.HasPrefix(text, []byte(".nh\n.TH")) || !bytes.Contains(text, []byte("\n"+name+" - "+cmd.Short)) {
			t.Errorf("%s has no page: %.200s", cmd.CommandPath(), text)
		}
	}
	check(cli.Commands())
	if count != len(got) || count < 25 {
		t.Errorf("%d pages for %d commands", len(got), count)
	}
	for name, flag := range map[string]string{"rollcall-list.1": "--cwd", "rollcall-fuse-set.1": "--webhook", "rollcall-window.1": "--session", "rollcall-logs.1": "--follow"} {
		if !bytes.Contains(got[name], []byte(flag)) {
			t.Errorf("%s does not name %s", name, flag)
		}
	}
	if text := string(got["rollcall-launch.1"]); !strings.Contains(text, ".EX\n") || !strings.Contains(text, "    - agent: ") {
		t.Errorf("the matrix file of launch is no example:\n%s", text)
	}
}

// date finds a year.
var date = regexp.MustCompile(`\b(19|20)\d\d\b|0001`)

func TestPagesAreReproducible(t *testing.T) {
	t.Setenv("HOME", "/home/first")
	t.Setenv("USER", "first")
	first := pages(t)
	t.Setenv("HOME", "/home/second")
	t.Setenv("USER", "second")
	t.Setenv("TZ", "Asia/Tokyo")
	t.Setenv("SOURCE_DATE_EPOCH", "1")
	second := pages(t)
	here, _ := os.Getwd()
	host, _ := os.Hostname()
	for name, text := range first {
		if !bytes.Equal(text, second[name]) {
			t.Errorf("%s differs", name)
		}
		if found := date.Find(text); found != nil {
			t.Errorf("%s has a date: %s", name, found)
		}
		for _, own := range []string{"/home/", "/tmp/", "/root", here, host} {
			if own != "" && bytes.Contains(text, []byte(own)) {
				t.Errorf("%s has %q of this machine", name, own)
			}
		}
		if regexp.MustCompile(`"root"|first`).Match(text) && name == "rollcall-lock.1" {
			t.Errorf("%s names the user", name)
		}
	}
}
