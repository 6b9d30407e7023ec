package adaptertest

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

// files are the regular files of the agent's store.
func (c *check) files() []string {
	c.Helper()
	var files []string
	err := filepath.WalkDir(c.agent.Store(), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Fatal(err)
	}
	return files
}

func (c *check) must(err error) {
	c.Helper()
	must.Do(c, err)
}

// shared reports whether several sessions live in the file of the first.
func shared(all []*scene.Session) bool {
	return slices.ContainsFunc(all[1:], func(s *scene.Session) bool { return s.File == all[0].File })
}

// torn: the last record of a transcript is being written. It is as if it were
// not there yet.
func torn(c *check) {
	all := c.cast()
	c.needs(all[0].File != "" && !shared(all), "sessions have no files of their own that are appended to")
	for _, s := range all {
		text, err := os.ReadFile(s.File)
		c.must(err)
		lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
		last := lines[len(lines)-1]
		c.environment.Append(s.File, "") // the line's end, if it was missing
		f, err := os.OpenFile(s.File, os.O_WRONLY|os.O_APPEND, 0)
		c.must(err)
		_, err = f.WriteString(last[:len(last)*2/3])
		c.must(errors.Join(err, f.Close()))
	}
	for range 2 {
		sessions, _ := c.fine(adapters.Query{Totals: true})
		c.expect(sessions, all...)
		c.adapter = c.subject.New(c.environment)
	}
}

// damages are what can lie in a file's place.
var damages = map[string]func(c *check, path string){
	"a named pipe": func(c *check, path string) { c.must(os.Remove(path)); c.must(syscall.Mkfifo(path, 0o644)) },
	"a folder":     func(c *check, path string) { c.must(os.Remove(path)); c.must(os.Mkdir(path, 0o755)) },
	"a link loop":  func(c *check, path string) { c.must(os.Remove(path)); c.must(os.Symlink(path, path)) },
	"a link to an endless device": func(c *check, path string) {
		c.must(os.Remove(path))
		c.must(os.Symlink("/dev/zero", path))
	},
	"half of it": func(c *check, path string) {
		info, err := os.Stat(path)
		c.must(err)
		c.must(os.Truncate(path, info.Size()/2))
	},
	"nothing": func(c *check, path string) { c.must(os.Truncate(path, 0)) },
	"noise": func(c *check, path string) {
		info, err := os.Stat(path)
		c.must(err)
		noise := make([]byte, info.Size()+100)
		rng := rand.New(rand.NewPCG(3, 4))
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		c.must(os.WriteFile(path, noise, 0o644))
	},
	"a hole in the middle": func(c *check, path string) {
		text, err := os.ReadFile(path)
		c.must(err)
		clear(text[len(text)/3 : len(text)*2/3])
		c.must(os.WriteFile(path, text, 0o644))
	},
}

// damaged: each file of the store in turn is replaced by something else. The
// answer comes in time, sessions that have other files are right, and of the
// damaged one's nothing wrong is said.
func damaged(c *check) {
	for name, damage := range damages {
		c.Run(name, func(t *testing.T) {
			t.Parallel()
			probe := c.in(t)
			probe.cast()
			chosen := someOfEachKind(probe.files())
			probe.needs(len(chosen) > 0, "the agent has no files")
			for _, n := range chosen {
				c := c.in(t)
				all := c.cast()
				files := c.files()
				if n%2 == 0 {
					c.fine(adapters.Query{}) // with what it remembers of the whole file, too
				}
				path := files[n]
				damage(c, path)
				sessions, roll, err := c.ask(adapters.Query{Totals: n%3 == 0})
				for _, s := range all {
					c.judge(s, path, sessions, roll, err)
				}
				if c.Failed() {
					c.Fatalf("with %s in place of %s: error %v, skipped %v", name, strings.TrimPrefix(path, c.environment.Home), err, roll.Skipped)
				}
			}
		})
	}
}

// someOfEachKind are the indexes of at most three files of each ending and depth.
func someOfEachKind(files []string) (chosen []int) {
	seen := map[string]int{}
	for i, path := range files {
		kind := fmt.Sprint(filepath.Ext(path), strings.Count(path, "/"))
		if seen[kind]++; seen[kind] <= 3 {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// judge judges what is said of a session while the file at path is damaged.
func (c *check) judge(s *scene.Session, path string, sessions map[string]adapters.Session, roll adapters.Roll, err error) {
	c.Helper()
	got, listed := sessions[s.ID]
	// Databases have their rows in several files, logs tell of all sessions.
	apart := !strings.HasPrefix(s.File, path) && !strings.HasPrefix(path, s.File) && !strings.HasSuffix(path, ".log")
	registered := strings.Contains(filepath.Base(path), fmt.Sprint(s.Process.PID)) && !s.Process.IsZero()
	switch truth := s.Truth(); {
	case !listed && strings.HasSuffix(path, "-wal"):
		// SQLite takes a log to end where it is damaged: the rows are lost.
	case !listed && err == nil && len(roll.Skipped) == 0:
		info, statErr := os.Stat(path)
		if statErr == nil && (info.Size() == 0 || info.IsDir()) && !apart {
			return // nothing says that there is a session
		}
		c.Errorf("session %s (%s) is missing, and nothing says why", s.ID, truth)
	case !listed && apart:
		c.Errorf("session %s (%s) is missing; it lies in %s (%v)", s.ID, truth, s.File, err)
	case !listed, got.Status == adapters.Unknown:
	case apart && !registered && scene.TruthOf(&got) != truth:
		c.Errorf("session %s is %s, want %s; evidence: %s", s.ID, scene.TruthOf(&got), truth, got.Evidence)
	case truth.Status == adapters.Stopped && got.Status != adapters.Stopped:
		c.Errorf("session %s is %s, want stopped; evidence: %s", s.ID, got.Status, got.Evidence)
	case truth.Status != adapters.Stopped && got.Status == adapters.Stopped && err == nil && len(roll.Skipped) == 0:
		c.Errorf("session %s is stopped, want %s, and nothing says why; evidence: %s", s.ID, truth, got.Evidence)
	}
}

// unknownRecord: a record of a type that the adapter does not know changes nothing, and is
// counted.
func unknownRecord(c *check) {
	all := c.cast()
	c.fine(adapters.Query{})
	for _, s := range all {
		s.Strange()
	}
	for range 2 {
		sessions, roll := c.fine(adapters.Query{Totals: true})
		c.expect(sessions, all...)
		if len(roll.Skipped) == 0 {
			c.Error("records of an unknown type are not counted")
		}
		c.adapter = c.subject.New(c.environment)
	}
}

// unknownForm: all files of the sessions have a form that the adapter does not know.
func unknownForm(c *check) {
	all := c.cast()
	c.needs(all[0].File != "", "sessions have no files")
	c.fine(adapters.Query{})
	for _, s := range all {
		c.must(os.WriteFile(s.File, []byte(strings.Repeat("<session form=\"new\"><turn/></session>\n", 300)), 0o644))
		_ = os.Remove(s.File + "-wal")
	}
	for range 2 {
		_, roll, err := c.ask(adapters.Query{})
		if !errors.Is(err, adapters.ErrFormat) {
			c.Errorf("error %v (skipped %v), want ErrFormat", err, roll.Skipped)
		} else if !strings.Contains(err.Error(), c.agent.Store()) {
			c.Errorf("does not name a file or folder: %v", err)
		}
		c.adapter = c.subject.New(c.environment)
	}
}

// huge: a gigabyte of nothing in a file costs neither much time nor memory.
func huge(c *check) {
	all := c.cast()
	c.needs(all[0].File != "", "sessions have no files")
	c.fine(adapters.Query{})
	c.must(os.Truncate(all[1].File, 1<<30/slowness))
	if last := all[len(all)-1]; last.File != all[1].File {
		c.must(os.Truncate(last.File, 1<<30/slowness))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 2 {
		begun := time.Now()
		sessions, roll, err := c.ask(adapters.Query{})
		for _, s := range all {
			if got, listed := sessions[s.ID]; !listed && err == nil && len(roll.Skipped) == 0 {
				c.Errorf("session %s is missing, and nothing says why", s.ID)
			} else if listed && !compatible(&got, s.Truth()) {
				c.Errorf("session %s is %s, want %s; evidence: %s", s.ID, scene.TruthOf(&got), s.Truth(), got.Evidence)
			}
		}
		c.Logf("%v, error %v", time.Since(begun), err)
		c.adapter = c.subject.New(c.environment)
	}
	runtime.ReadMemStats(&after)
	if most := after.TotalAlloc - before.TotalAlloc; slowness == 1 && most > 64<<20 { // it was at most 18 MB; the race detector's own are no measure
		c.Errorf("%d MB were allocated", most>>20)
	}
}
