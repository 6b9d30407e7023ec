package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rollcall/app"
	"rollcall/internal/must"
	"rollcall/proc"
)

// stressVariable asks for more rounds of the stress tests: the part of all, in percent. make stress sets it.
const stressVariable = "ROLLCALL_STRESS"

// stress returns the number of rounds of a stress test: few or, with stressVariable, its part of many.
func stress(few, many int) int {
	percent, err := strconv.Atoi(os.Getenv(stressVariable))
	if err != nil {
		return few
	}
	return max(few, many*percent/100)
}

// TestStressLaunchesInARow checks that many launches in a row leave no file, descriptor or goroutine once their records
// have expired.
func TestStressLaunchesInARow(t *testing.T) {
	many := stress(50, 1000)
	s := newStage(t, &fake{})
	var late atomic.Int64
	s.now = func() time.Time { return time.Now().Add(time.Duration(late.Load())) }
	tr := s.tray()
	s.until("the first answer", func() bool { return !tr.core.Refresh(t.Context()).Refreshing })
	reported := map[string][]string{} // ends, by launch
	seen := []string{s.launchOnce(0)}
	tr.countEnds(reported)
	files, goroutines := descriptors(t), runtime.NumGoroutine() // what is made once is made by now
	for i := 1; i < many; i++ {
		if id := s.launchOnce(i); id != "" {
			seen = append(seen, id)
		}
		tr.countEnds(reported)
	}
	s.until("the last end reported", func() bool { tr.countEnds(reported); return len(reported[seen[len(seen)-1]]) > 0 })
	tr.core.Refresh(t.Context())
	tr.countEnds(reported)
	for _, id := range seen {
		if len(reported[id]) != 1 {
			t.Errorf("ends reported of launch %s: %q", id, reported[id])
		}
	}
	for id, ends := range reported {
		if id == "" || len(ends) > 1 {
			t.Errorf("ends reported of launch %q: %q", id, ends)
		}
	}
	list, err := s.List()
	if err != nil || len(list) != many {
		t.Fatalf("%d records, %v", len(list), err)
	}
	late.Store(int64(Keep))
	s.until("no record and no log", func() bool {
		tr.core.Refresh(t.Context()) // the keeper looks
		names, err := s.records.Names()
		logs, logsErr := os.ReadDir(s.logs)
		return err == nil && logsErr == nil && len(names)+len(logs) == 0
	})
	s.nothing()
	for _, dir := range []string{"launches", "locks", "logs"} {
		entries, err := os.ReadDir(filepath.Join(s.state, dir))
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") { // the guard of the folder
				t.Errorf("left in %s: %s", dir, e.Name())
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
	s.until("as many descriptors and goroutines as before", func() bool {
		return descriptors(t) <= files && runtime.NumGoroutine() <= goroutines
	})
}

// launchOnce carries one launch from its start to its end, in one of the ways in
// which they end. It returns the launch if it lasted long enough to be seen.
func (s *stage) launchOnce(i int) (seen string) {
	s.t.Helper()
	s.role, s.wrapper = "", nil
	switch i % 5 {
	case 1:
		s.wrapper = []string{"/bin/sh", "-c", `"$0" "$@"; exit $?`}
	case 2:
		s.role = "short"
	}
	r := s.start(func(r *Request) { r.Task.Prompt = fmt.Sprintf("number %d", i) }).Record
	record := func() (x Record) {
		must.Do(s.t, s.records.Read(r.ID, &x))
		return x
	}
	if s.role == "" {
		s.until("the session", func() bool { r = record(); return r.Seen })
		seen = r.ID
		switch i % 5 {
		case 3:
			s.signal(r.Process, proc.Kill)
		case 4:
			s.signal(r.Process, proc.Terminate)
		default:
			s.finish(r.Session)
		}
	}
	s.until("its end", func() bool { r = record(); return r.Ended() })
	s.until("the free folder", func() bool { l, _ := s.locks.List(); return len(l) == 0 })
	if old, err := filepath.Glob(filepath.Join(s.store, "*")); err == nil {
		for _, path := range old { // or the agent's list would be what takes time
			_ = os.Remove(path)
		}
	}
	return seen
}

// countEnds counts the ends that were reported since.
func (tr *tray) countEnds(reported map[string][]string) {
	for {
		select {
		case e := <-tr.reported:
			if e.Kind == app.Ended {
				id := ""
				if e.Session.Launch != nil {
					id = e.Session.Launch.ID
				}
				reported[id] = append(reported[id], fmt.Sprintf("%s %s in %v: %s", e.At.Format("05.000"), e.Session.ID, e.Process, e.Session.Evidence))
			}
		default:
			return
		}
	}
}

func (s *stage) listed() []Record {
	s.t.Helper()
	list := must.Get(s.List())(s.t)
	return list
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries := must.Get(os.ReadDir("/proc/self/fd"))(t)
	return len(entries)
}

// TestStressTwoAtOnce checks that of two simultaneous launches into overlapping folders exactly one succeeds.
func TestStressTwoAtOnce(t *testing.T) {
	rounds := stress(12, 200)
	s := newStage(t, &fake{})
	child, link := filepath.Join(s.dir, "child"), filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Mkdir(child, 0o755))
	must.Do(t, os.Symlink(s.dir, link))
	others := []string{s.dir, child, link}
	for round := range rounds {
		var said [2]string
		var both sync.WaitGroup
		for i, dir := range []string{s.dir, others[round%len(others)]} {
			both.Go(func() { said[i], _ = s.startElsewhere("FAKE_DIR=" + dir) })
		}
		both.Wait()
		won := 0
		for _, text := range said {
			switch {
			case text == "started":
				won++
			case !strings.Contains(text, " is locked "):
				t.Fatalf("round %d: %q", round, text)
			}
		}
		live, err := s.locks.List()
		records := s.listed()
		if won != 1 || err != nil || len(live) != 1 || len(records) != 1 || live[0].Launch != records[0].ID {
			t.Fatalf("round %d: %d won: %q; locks %+v (%v), records %+v", round, won, said, live, err, records)
		}
		if !s.table.Alive(records[0].Process) || live[0].Owner != records[0].Process {
			t.Fatalf("round %d: the lock %+v is not of the agent of %+v", round, live[0], records[0])
		}
		s.signal(records[0].Process, proc.Kill)
		s.until("its end", func() bool { return !s.table.Alive(records[0].Process) })
		if swept, err := s.Sweep(t.Context(), nil); err != nil || len(swept.Ended) != 1 {
			t.Fatalf("round %d: swept %+v, %v", round, swept, err)
		}
		if err := s.undo(t.Context(), records[0].ID); err != nil { // its day is over
			t.Fatal(err)
		}
	}
	s.nothing()
}
