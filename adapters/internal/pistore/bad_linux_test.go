package pistore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// hole is a session with so many bytes of nothing between its ends.
func hole(begin string, size int64, end string) func(testing.TB, string) {
	return func(t testing.TB, path string) {
		f, err := os.Create(path)
		if err == nil {
			_, err = f.WriteString(begin)
		}
		if err == nil {
			_, err = f.WriteAt([]byte(end), int64(len(begin))+size)
		}
		must.Do(t, err)
		f.Close()
	}
}

func content(text string) func(testing.TB, string) {
	return func(t testing.TB, path string) {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

// Whatever lies in one session's place, the others are right, the trouble is
// named, and it takes no time.
func TestBadSessions(t *testing.T) {
	at := time.Now().Add(-time.Hour)
	begin := newScript(idA, "/x", at).begin().sys(second).prompt(second, "bad \x1b[31m\x00one").text()
	whole := newScript(idA, "/x", at).begin().sys(second).prompt(second, "p").answer(2*second, "stop").text()
	end := whole[strings.LastIndex(strings.TrimSuffix(whole, "\n"), "\n")+1:]
	big := func(n int) string {
		return newScript(idA, "/x", at).message(second, map[string]any{"role": "toolResult", "content": strings.Repeat("x", n)}).lines[1]
	}
	tests := map[string]struct {
		put     func(testing.TB, string)
		status  string // "" for no session
		problem string
		skipped string
	}{
		"cut off in a record":         {content(begin + end[:40]), "stopped died", "", ""},
		"no newline at the end":       {content(begin + strings.TrimSuffix(end, "\n")), "stopped completed", "", ""},
		"garbage between records":     {content(begin + "}{ no\n\x00\x00\n\xff\xfe\n" + end), "stopped completed", "", "line that is not JSON"},
		"NULs at the end":             {content(whole + strings.Repeat("\x00", 4096)), "stopped completed", "", ""},
		"garbage before the header":   {content("oops\n" + whole), "stopped completed", "", "line that is not JSON"},
		"a record of an unknown kind": {content(begin + `{"type":"dre` + "\x1b" + `am","id":"1"}` + "\n" + end), "stopped completed", "", "unknown record type"},
		"an unknown role":             {content(begin + `{"type":"message","id":"1","message":{"role":"ghost"}}` + "\n" + end), "stopped completed", "", "unknown record type message of role ghost"},
		"a newer format":              {content(strings.Replace(whole, `"version":3`, `"version":4`, 1)), "stopped completed", "", "session format 4"},
		"an old format":               {content(strings.Replace(whole, `"version":3`, `"version":1`, 1)), "stopped completed", "", ""},
		"a record of 20 MB":           {content(begin + big(20<<20) + end), "stopped completed", "", ""},
		"a record of 20 MB at last":   {content(begin + big(20<<20)), "stopped died", "", ""},
		"a hole of 1 GB":              {hole(begin, 1<<30, "\n"+end), "stopped", "", "line over 64 MB"},
		"a hole of 100 MB":            {hole(begin, 100<<20, "\n"+end), "stopped completed", "", "line over 64 MB"},
		"a hole of 1 GB at the end":   {hole(begin, 1<<30, "\x00"), "stopped", "", "line over 64 MB"},
		"nothing but a hole":          {hole("", 1<<30, "\n"), "stopped", "", "line over 64 MB"},
		"empty":                       {content(""), "", "", ""},
		"no header":                   {content(end), "", "", "file without a session header"},
		"a header without an id":      {content(`{"type":"session","version":3}` + "\n" + end), "", "", "file without a session header"},
		"not JSON at all":             {content("hello\n"), "", "", "file without a session header"},
		"a folder":                    {func(t testing.TB, p string) { os.MkdirAll(p, 0o755) }, "", "a folder, not a regular file", ""},
		"a named pipe":                {func(t testing.TB, p string) { syscall.Mkfifo(p, 0o600) }, "", "a named pipe, not a regular file", ""},
		"a link to itself":            {func(t testing.TB, p string) { os.Symlink(p, p) }, "", "too many levels of symbolic links", ""},
		"a link to nothing":           {func(t testing.TB, p string) { os.Symlink("/nowhere/at/all", p) }, "", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			path := w.put(newScript(idA, "/x", at))
			os.Remove(path)
			test.put(t, path)
			w.put(newScript(idC, "/x", at).begin().prompt(second, "good").answer(2*second, "stop"))
			if info, err := os.Stat(path); err != nil || info.Size() < 1<<30 { // hashing takes longer than all else
				adaptertest.Untouched(t, w.home)
			}
			a := w.store(agentname.Pi)
			for _, q := range []adapters.Query{{}, {}, {IDs: []string{idA, idC}}} {
				got, roll, err := ask(t, a, q)
				if good := got[idC]; good.Status != adapters.Stopped || good.FirstPrompt != "good" {
					t.Errorf("the other one: %+v", good)
				}
				is := strings.TrimSpace(fmt.Sprint(got[idA].Status, " ", got[idA].Outcome))
				if is != test.status {
					t.Errorf("%q, want %q (%s)", is, test.status, got[idA].Evidence)
				}
				if test.problem == "" && err != nil || test.problem != "" && !strings.Contains(fmt.Sprint(err), test.problem) {
					t.Errorf("problem: %v", err)
				}
				if said := fmt.Sprint(roll.Skipped); test.skipped == "" && len(roll.Skipped) > 0 || !strings.Contains(said, test.skipped) {
					t.Errorf("skipped: %v", said)
				}
			}
		})
	}
}

// A store of which nothing is understood is no empty list.
func TestFormatNotRecognised(t *testing.T) {
	w := newFixture(t)
	path := w.put(newScript(idA, "/x", time.Now()))
	w.check(os.WriteFile(path, []byte(`{"kind":"conversation"}`+"\n"), 0o600))
	_, _, err := ask(t, w.store(agentname.Pi), adapters.Query{})
	if !errors.Is(err, adapters.ErrFormat) || !strings.Contains(err.Error(), "none of 1 files begins with a session header") {
		t.Error(err)
	}
	w.check(os.WriteFile(filepath.Join(w.home, ".pi", "agent", "settings.json"), []byte("{"), 0o600))
	_, _, err = ask(t, w.store(agentname.Pi), adapters.Query{})
	if !strings.Contains(err.Error(), "settings.json") {
		t.Error(err)
	}
}

// A file that is written while it is read, and one that is replaced.
func TestGrowing(t *testing.T) {
	w := newFixture(t)
	at := time.Now().Add(-time.Hour)
	s := newScript(idA, "/x", at).begin().sys(second)
	path := w.put(s)
	a := w.store(agentname.Pi)
	sum := int64(0)
	for i := range 30 {
		before := len(s.lines)
		s.prompt(time.Duration(i)*second, fmt.Sprint("p", i))
		if i%3 == 1 {
			s.answer(time.Duration(i)*second, "stop")
			sum += 10
		}
		added := strings.Join(s.lines[before:], "")
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		w.check(err)
		for _, part := range []string{added[:len(added)/2], added[len(added)/2:]} { // a torn write
			_, err = f.WriteString(part)
			w.check(err)
			kept, _, _ := ask(t, a, adapters.Query{Totals: i%2 == 0})
			fresh, _, _ := ask(t, w.store(agentname.Pi), adapters.Query{Totals: true})
			x, y := kept[idA], fresh[idA]
			if x.Status != y.Status || x.Evidence != y.Evidence || x.LastPrompt != y.LastPrompt || *x.Tokens != *y.Tokens {
				t.Fatalf("step %d: kept %+v, fresh %+v", i, x, y)
			}
		}
		f.Close()
		if got, _, _ := ask(t, a, adapters.Query{}); got[idA].LastPrompt != fmt.Sprint("p", i) || got[idA].Tokens.Input != sum {
			t.Fatalf("step %d: %+v", i, got[idA])
		}
	}
	w.check(os.WriteFile(path+".new", []byte(newScript(idA, "/x", at).prompt(second, "rewritten").text()), 0o600))
	w.check(os.Rename(path+".new", path))
	if got, _, _ := ask(t, a, adapters.Query{}); got[idA].FirstPrompt != "rewritten" {
		t.Errorf("%+v", got[idA])
	}
	w.check(os.WriteFile(path, []byte(newScript(idA, "/x", at).prompt(second, "in place").text()), 0o600))
	if got, _, _ := ask(t, a, adapters.Query{}); got[idA].FirstPrompt != "in place" {
		t.Errorf("%+v", got[idA])
	}
}

// Folders and files without permission are named, with what to do. It takes
// another user than root to see that.
func TestNoPermission(t *testing.T) {
	w := newFixture(t)
	at := time.Now().Add(-time.Hour)
	one := w.put(newScript(idA, "/x", at).prompt(second, "x"))
	two := w.put(newScript(idC, "/y", at).prompt(second, "x"))
	w.put(newScript(idB, "/z", at).prompt(second, "x").answer(second, "stop"))
	for dir := w.home; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		w.check(os.Chmod(dir, 0o755))
	}
	w.check(filepath.Walk(w.home, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			err = os.Chmod(path, 0o644)
		}
		return err
	}))
	w.check(os.Chmod(one, 0))
	w.check(os.Chmod(filepath.Dir(two), 0))
	defer os.Chmod(filepath.Dir(two), 0o755)
	self, err := os.Executable()
	w.check(err)
	bin := filepath.Join(w.home, "test")
	w.check(exec.Command("install", "-m", "755", self, bin).Run())
	cmd := exec.Command(bin)
	cmd.Env = []string{"HOME=" + w.home, "ROLLCALL_TEST_ROLE=discover", "GORACE=atexit_sleep_ms=0"}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	w.check(err)
	for _, want := range []string{"session " + idB, one + ": unreadable: permission denied (give your user read permission on it)",
		filepath.Dir(two) + ": unreadable: permission denied"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

func discoverAsNobody() {
	w := fixture{}
	s := newStore(agentname.Pi, adapters.Config{Table: w.ownTable(), Env: func(string) string { return "" }})
	s.Table = noProcesses{}
	roll, err := s.Discover(context.Background(), adapters.Query{})
	for _, x := range roll.Sessions {
		fmt.Println("session", x.ID)
	}
	for _, p := range adapters.Problems(err) {
		fmt.Println(p)
	}
}

// Discover ends soon after its context does.
func TestCancelled(t *testing.T) {
	w := newFixture(t)
	w.put(newScript(idA, "/x", time.Now()).prompt(second, "x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := w.store(agentname.Pi)
	if _, err := a.Discover(ctx, adapters.Query{}); !errors.Is(err, adapters.ErrTimeout) {
		t.Error(err)
	}
	w.expect(a, map[string]string{idA: "stopped died"})
}
