//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

func took(wall, cpu time.Duration, memory int64) sample {
	return sample{Wall: wall, CPU: cpu, Memory: memory}
}

// A machine that is half as fast makes nothing worse; a ratio that grew by more than a quarter does, and so does memory.
func TestCompare(t *testing.T) {
	was := figure{N: 1000, Row: "all", Name: "all", Warm: took(2*time.Second, 3*time.Second, 50<<20), Floor: took(time.Second, time.Second, 0)}
	for name, c := range map[string]struct {
		now   figure
		worse []string
	}{
		"the same":       {was, nil},
		"slower machine": {figure{Warm: took(4*time.Second, 6*time.Second, 50<<20), Floor: took(2*time.Second, 2*time.Second, 0)}, nil},
		"slower":         {figure{Warm: took(2600*time.Millisecond, 3*time.Second, 50<<20), Floor: was.Floor}, []string{"wall time is 2.60 × the floor, was 2.00 ×"}},
		"a little":       {figure{Warm: took(2400*time.Millisecond, 3*time.Second, 55<<20), Floor: was.Floor}, nil},
		"busier":         {figure{Warm: took(2*time.Second, 4*time.Second, 50<<20), Floor: was.Floor}, []string{"processor time is 4.00 × the floor"}},
		"larger":         {figure{Warm: took(2*time.Second, 3*time.Second, 70<<20), Floor: was.Floor}, []string{"memory is 70 MB, was 50 MB"}},
		"not measured":   {figure{Missing: "no cache"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.now.N = 1000
			c.now.Row = "all"
			c.now.Name = "all"
			var out bytes.Buffer
			err := compare(&out, &figures{Rows: []figure{was, {N: 100, Row: "all"}}}, &figures{Rows: []figure{c.now, {N: 1000, Row: "new"}}})
			if (err != nil) != (c.worse != nil || c.now.Missing != "") {
				t.Fatal(err, out.String())
			}
			for _, text := range c.worse {
				if !strings.Contains(out.String(), text) {
					t.Errorf("%q is not in %q", text, out.String())
				}
			}
			if n := strings.Count(out.String(), "worse:"); n != len(c.worse) {
				t.Errorf("%d lines: %q", n, out.String())
			}
		})
	}
	fast := figure{N: 1, Row: "live", Warm: took(6*time.Millisecond, 0, 0), Floor: took(time.Millisecond, 0, 0)}
	before := fast
	before.Warm.Wall = 3 * time.Millisecond
	if list := fast.worseThan(&before); len(list) > 0 {
		t.Errorf("3 ms more than 3 ms count: %q", list)
	}
}

// A run of one size or one row replaces its figures and keeps the others.
func TestMerge(t *testing.T) {
	f := &figures{Date: "old", Rows: []figure{{N: 100, Row: "a", Goal: "1"}, {N: 100, Row: "b", Goal: "2"}, {N: 1000, Row: "a", Goal: "3"}}}
	f.merge(&figures{Date: "new", Rows: []figure{{N: 100, Row: "b", Goal: "4"}, {N: 100, Row: "c", Goal: "5"}}})
	var got []string
	for _, r := range f.Rows {
		got = append(got, r.Row+r.Goal)
	}
	if strings.Join(got, " ") != "a1 b4 c5 a3" || f.Date != "new" {
		t.Errorf("%q", got)
	}
	f.merge(&figures{})
	if f.Date != "new" {
		t.Error("nothing replaced the date")
	}
}

func TestMedian(t *testing.T) {
	got := median([]sample{took(3, 10, 5), took(1, 30, 9), took(2, 20, 7)})
	if got != took(2, 20, 9) {
		t.Errorf("%+v", got)
	}
}

// The document has each figure, and says what is missing and why.
func TestDocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	f := &figures{Machine: "a machine", Rows: []figure{
		{N: 100, Row: "all", Name: "everything", Goal: "≤ 3 s", Warm: took(2*time.Second, 3*time.Second, 50<<20), Floor: took(time.Second, time.Second, 0),
			PeerName: "ccusage", Peer: took(20*time.Second, 30*time.Second, 1<<30)},
		{N: 100, Row: "cache", Name: "with a cache", Missing: "this build has no cache"},
		{N: 100, Row: "live", Name: "live", Warm: took(time.Millisecond, 0, 0), PeerName: "agentctl", PeerMissing: peers["agentctl"].without},
		{Row: "rest", Name: "at rest", Text: "40 MB"},
	}}
	must.Do(t, writeDocument(path, f))
	text := must.Get(os.ReadFile(path))(t)
	must.Do(t, os.WriteFile(path, append(text, "seen by hand\n"...), 0o600))
	must.Do(t, writeDocument(path, f))
	again := must.Get(os.ReadFile(path))(t)
	if string(again) != string(text)+"seen by hand\n" {
		t.Errorf("what was written by hand does not stay:\n%s", again)
	}
	for _, want := range []string{"| everything | ≤ 3 s | 2.0 s | 3.0 s | 50 MB | 2.00 | 3.00 |", "ccusage 20 s, 1.0 GB: wall ÷ 10.0, CPU ÷ 10.0", "- with a cache: this build has no cache.",
		"- agentctl is not installed", "| at rest |  | 40 MB |", "a machine"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "## 0 sessions") {
		t.Error("there is a table of 0 sessions")
	}
}

// The command measures a small corpus with the real program, removes it, and leaves no process.
func TestBench(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	dir := t.TempDir()
	program, self := filepath.Join(dir, "rollcall"), filepath.Join(dir, "bench")
	for _, args := range [][]string{{"-tags", "headless", "-o", program, "../.."}, {"-o", self, "."}} {
		cmd := exec.Command("go", append([]string{"build"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	work := filepath.Join(dir, "work")
	must.Do(t, os.Mkdir(work, 0o700))
	args := []string{"-binary", program, "-n", "20", "-runs", "1", "-no-peers", "-tmp", work, "-baseline", filepath.Join(dir, "figures.json"), "-document", filepath.Join(dir, "page.md")}
	bench := func(more ...string) (string, error) {
		out, err := exec.Command(self, append(args, more...)...).CombinedOutput()
		return string(out), err
	}
	if out, err := bench("-check", "-rows", "live"); err == nil || !strings.Contains(out, "nothing to compare with") {
		t.Errorf("without figures: %v\n%s", err, out)
	}
	if out, err := bench(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got figures
	text, err := os.ReadFile(filepath.Join(dir, "figures.json"))
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	must.Do(t, err)
	rows := map[string]figure{}
	for _, f := range got.Rows {
		rows[f.Row] = f
	}
	for _, r := range corpusRows {
		f, ok := rows[r.id]
		if !ok || f.Missing == "" && (f.Warm.Wall <= 0 || f.Warm.CPU <= 0 || f.Warm.Memory < 1<<20 || f.Floor.Wall <= 0 || r.cold && f.Cold.Wall <= 0) {
			t.Errorf("%s: %+v", r.id, f)
		}
	}
	if f := rows["big"]; f.Warm.Wall <= 0 {
		t.Errorf("big: %+v", f)
	}
	if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Wrong answers are not measured: the run fails and names what is wrong.
func TestWrongAnswers(t *testing.T) {
	dir := t.TempDir()
	list := filepath.Join(dir, "list")
	must.Do(t, writeCorpus(filepath.Join(dir, "corpus"), 20))
	must.Do(t, os.WriteFile(list, []byte(`{"schema": 1, "sessions": []}`), 0o600))
	if err := checkList(filepath.Join(dir, "corpus"), list); err == nil || !strings.Contains(err.Error(), "differences to the truth") {
		t.Errorf("%v", err)
	}
}
