package factcache

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// stalled is a folder of which some calls return only when until is closed. A nil until never blocks.
type stalled struct {
	folder
	open, names <-chan struct{}
}

func wait(until <-chan struct{}) {
	if until != nil {
		<-until
	}
}

func (s stalled) Open(name string) (*os.File, fs.FileInfo, error) {
	wait(s.open)
	return s.folder.Open(name)
}

func (s stalled) Names() ([]string, error) {
	wait(s.names)
	return s.folder.Names()
}

// stall returns facts in a folder that works until a field of it is set.
func stall(t *testing.T, dir string) (*Facts[value], *stalled) {
	t.Helper()
	s := &stalled{}
	c := New(func(bool) (Folder, error) {
		root, err := os.OpenRoot(dir)
		return stalled{folder{root}, s.open, s.names}, err
	}, "1.0", slog.New(slog.DiscardHandler))
	c.SaveAlways()
	return Of[value](c, testName, 1), s
}

// A folder that does not answer while the facts are saved holds up nothing else, and the save for a few seconds only.
func TestStalledSave(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 1)
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan struct{})
		facts, folder := stall(t, dir)
		v := sample()
		facts.Store("/new", &v, 1)
		folder.names = answers
		began, done := time.Now(), make(chan struct{})
		go func() {
			facts.Flush(true)
			close(done)
		}()
		synctest.Wait()
		if _, ok := facts.Load("/new"); !ok {
			t.Error("what is being saved can't be loaded")
		}
		facts.Store("/newer", &v, 1)
		facts.Flush(true) // which does not save: the other one is at it
		if _, ok := facts.Load("/newer"); !ok || time.Since(began) > 0 {
			t.Errorf("the others waited for %v (%v)", time.Since(began), ok)
		}
		<-done
		if took := time.Since(began); took > saveLimit {
			t.Errorf("the save was given up after %v", took)
		}
		began = time.Now()
		for i := range 10 {
			facts.Load(fmt.Sprint("/f", i))
			facts.Store(fmt.Sprint("/f", i), &v, 1)
			facts.Flush(true)
		}
		if took := time.Since(began); took > 0 || len(facts.file.next.added) > 0 {
			t.Errorf("after the first save that was given up, others took %v, and %d values are held", took, len(facts.file.next.added))
		}
		close(answers)
		synctest.Wait()
	})
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v, want one file", entries, err)
	}
	if found, log := check(t, dir, 1); found != 1 || log != "" {
		t.Errorf("%d values, want 1; %s", found, log)
	}
	c, _ := in(dir)
	if _, ok := Of[value](c, testName, 1).Load("/new"); ok {
		t.Error("a save that was given up changed the file")
	}
}

// A file that can't be opened in time is done without, until the file system answers again.
func TestStalledOpen(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 1)
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan struct{})
		facts, folder := stall(t, dir)
		folder.open = answers
		began := time.Now()
		for range 10 {
			if _, ok := facts.Load("/f0"); ok {
				t.Error("a value of a folder that does not answer")
			}
			facts.Flush(true)
		}
		if took := time.Since(began); took > openLimit {
			t.Errorf("ten questions waited for %v", took)
		}
		close(answers)
		synctest.Wait()
		if _, ok := facts.Load("/f0"); !ok {
			t.Error("no value after the file system answered again")
		}
		facts.Flush(true)
	})
}
