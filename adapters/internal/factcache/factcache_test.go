package factcache

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/internal/must"
)

// folder is a folder as app/store has it, without its checks.
type folder struct{ *os.Root }

func (f folder) Path() string { return f.Name() }

func (f folder) Open(name string) (*os.File, fs.FileInfo, error) {
	file, err := f.Root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	return file, info, err
}

func (f folder) Create(name string) (*os.File, error) {
	return f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

func (f folder) Names() ([]string, error) {
	dir, err := f.Root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

func (f folder) Close() { _ = f.Root.Close() }

// in returns the cache in a folder, which saves always, and what it logs.
func in(dir string) (*Cache, *bytes.Buffer) {
	var log bytes.Buffer
	c := New(func(create bool) (Folder, error) {
		if create {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, err
			}
		}
		root, err := os.OpenRoot(dir)
		return folder{root}, err
	}, "1.0", slog.New(slog.NewTextHandler(&log, nil)))
	c.SaveAlways()
	return c, &log
}

// embedded and value have a field of every kind.
type embedded struct{ id string }

type value struct {
	embedded
	at, never, local, elsewhere time.Time
	n                           int64
	small                       int8
	u                           uint64
	on                          bool
	f                           float64
	list                        []embedded
	none, empty                 []string
	raw                         []byte
	hash                        [4]byte
	to                          *embedded
	nothing                     *embedded
	counts                      map[string]int
	seen                        map[uint64]struct{}
	inner                       struct{ a, b *float64 }
	left                        int `facts:"-"`
}

func sample() value {
	half := 0.5
	v := value{embedded: embedded{"x"}, at: time.Date(2026, 11, 23, 5, 0, 0, 123, time.UTC), local: time.Unix(1, 2),
		elsewhere: time.Date(1969, 1, 1, 0, 0, 0, 0, time.FixedZone("", -3600)), n: -1 << 62, small: -7, u: 1<<64 - 1, on: true, f: -1.5,
		list: []embedded{{"a"}, {""}, {"ü\x00"}}, empty: []string{}, raw: []byte{0, 255}, hash: [4]byte{1, 2, 3, 4}, to: &embedded{"y"},
		counts: map[string]int{"a": 1, "": -2}, never: time.Time{}, none: nil, nothing: nil, seen: map[uint64]struct{}{1: {}, 1 << 60: {}}, left: 5}
	v.inner.b = &half
	return v
}

func TestCodec(t *testing.T) {
	c := codecOf(reflect.TypeFor[value]())
	v := sample()
	data := c.append(nil, pointerTo(&v))
	var got value
	d := decoder{rest: data}
	c.read(&d, pointerTo(&got))
	v.left = 0
	if d.err != nil || len(d.rest) > 0 || !reflect.DeepEqual(got, v) {
		t.Errorf("%v, %d bytes left\n%+v, want\n%+v", d.err, len(d.rest), got, v)
	}
	for n := range len(data) { // cut off at every byte
		var cut value
		d := decoder{rest: data[:n]}
		if c.read(&d, pointerTo(&cut)); d.err == nil {
			t.Errorf("%d of %d bytes are a value", n, len(data))
		}
	}
}

// Another type, another version of the facts and another program have another format.
func TestFormat(t *testing.T) {
	shape := func(t reflect.Type) string { return codecOf(t).shape }
	formats := map[uint64]bool{}
	for _, f := range []uint64{
		formatOf(shape(reflect.TypeFor[struct{ a int }]()), 1, "1"),
		formatOf(shape(reflect.TypeFor[struct{ b int }]()), 1, "1"),
		formatOf(shape(reflect.TypeFor[struct{ a uint }]()), 1, "1"),
		formatOf(shape(reflect.TypeFor[struct{ a, b int }]()), 1, "1"),
		formatOf(shape(reflect.TypeFor[struct{ a int }]()), 2, "1"),
		formatOf(shape(reflect.TypeFor[struct{ a int }]()), 1, "2"),
	} {
		formats[f] = true
	}
	if len(formats) != 6 {
		t.Errorf("%d formats, want 6", len(formats))
	}
}

// After a reboot a file system may have another number: what was kept of its files holds.
func TestOtherDevice(t *testing.T) {
	c := codecOf(reflect.TypeFor[agentfile.Stamp]())
	was := agentfile.Stamp{Device: 1, Inode: 2, Size: 3, Modified: 4, Changed: 5}
	var kept agentfile.Stamp
	c.read(&decoder{rest: c.append(nil, pointerTo(&was))}, pointerTo(&kept))
	now := was
	now.Device = 2
	if !kept.Unchanged(now) || !kept.SameFile(now) || was.Unchanged(now) {
		t.Errorf("%+v and %+v", kept, now)
	}
}

const testName = "agent"

// fill stores n values and saves them.
func fill(t *testing.T, dir string, n int) {
	t.Helper()
	c, log := in(dir)
	facts := Of[value](c, testName, 1)
	for i := range n {
		v := sample()
		v.n = int64(i)
		facts.Store(fmt.Sprint("/f", i), &v, 1)
	}
	if facts.Flush(true); log.Len() > 0 {
		t.Fatal(log)
	}
}

// check loads n values, of which some may be missing and none may be wrong, and returns how many there are.
func check(t *testing.T, dir string, n int) (found int, log string) {
	t.Helper()
	c, out := in(dir)
	facts := Of[value](c, testName, 1)
	for i := range n {
		v, ok := facts.Load(fmt.Sprint("/f", i))
		if !ok {
			continue
		}
		want := sample()
		want.n, want.left = int64(i), 0
		if found++; !reflect.DeepEqual(v, want) {
			t.Fatalf("%+v, want %+v", v, want)
		}
	}
	facts.Flush(true)
	return found, out.String()
}

func TestSaveAndLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "facts")
	if found, log := check(t, dir, 3); found != 0 || log != "" {
		t.Errorf("%d values without a folder; %s", found, log)
	}
	fill(t, dir, 3)
	fill(t, dir, 2) // the third stays
	if found, log := check(t, dir, 3); found != 3 || log != "" {
		t.Errorf("%d values, want 3; %s", found, log)
	}
	info, err := os.Stat(filepath.Join(dir, testName))
	must.Do(t, err)
	if mode := info.Mode().Perm(); mode != 0o600 && runtime.GOOS != "windows" { // where access lists decide
		t.Errorf("mode %v, want 600", mode)
	}
	c, log := in(dir)
	if _, ok := Of[value](c, testName, 2).Load("/f0"); ok || log.Len() > 0 {
		t.Errorf("a value of another version was used; %s", log)
	}
	var none *Facts[value]
	none.Store("/f0", nil, 1)
	none.Flush(true)
	if _, ok := none.Load("/f0"); ok || Of[value](nil, testName, 1) != nil {
		t.Error("no cache has a value")
	}
}

// What is not worth the writing is not saved.
func TestWorth(t *testing.T) {
	dir := t.TempDir()
	c, _ := in(dir)
	c.eager = false
	facts := Of[value](c, testName, 1)
	saved := func() bool { _, err := os.Stat(filepath.Join(dir, testName)); return err == nil }
	v := sample()
	facts.Store("/a", &v, worthBytes-1)
	if facts.Flush(true); saved() {
		t.Error("little was saved")
	}
	facts.Store("/b", &v, 1)
	if facts.Flush(false); saved() {
		t.Error("a process that goes on saved little")
	}
	if facts.Flush(true); !saved() {
		t.Error("not saved")
	}
	large := sample()
	large.raw = make([]byte, maxEntry)
	facts.Store("/c", &large, worthBytes)
	facts.Flush(true)
	if _, ok := facts.Load("/c"); ok {
		t.Error("an entry over the limit was kept")
	}
}

// batchOf returns a batch that adds a value for each path.
func batchOf(data []byte, paths ...string) *batch {
	b := &batch{added: map[string]addition{}}
	for _, path := range paths {
		b.added[path] = addition{data, 1}
	}
	return b
}

// The file is bounded: the entries that were used last stay.
func TestBound(t *testing.T) {
	dir := t.TempDir()
	big := make([]byte, maxEntry/2)
	n := maxFileSize/len(big) + 20
	c, log := in(dir)
	f := &file{cache: c, name: testName, format: 1}
	for i := n - 7; i < n; i++ {
		b := batchOf(big, fmt.Sprint(i))
		if i == n-7 {
			for k := range i {
				b.added[fmt.Sprint(k)] = addition{big, 1}
			}
		}
		must.Do(t, f.save(b))
		// Make what is there look older, but for the first entry, which is used again.
		v, err := f.openView()
		must.Do(t, err)
		b = &batch{used: map[uint64]uint32{}, aged: 1}
		for k := range v.len() {
			r := v.at(k)
			b.used[r.key] = r.used - 1
		}
		b.used[keyOf("0")] = hour(time.Now())
		v.close()
		must.Do(t, f.save(b))
	}
	info, err := os.Stat(filepath.Join(dir, testName))
	if err != nil || info.Size() > maxFileSize || f.load("0") == nil || f.load(fmt.Sprint(n-1)) == nil || log.Len() > 0 {
		t.Errorf("%d bytes, %v; %s", info.Size(), err, log)
	}
	if v := f.view; v.len() >= n || v.len() < n-25 {
		t.Errorf("%d entries of %d", v.len(), n)
	}
}

// Processes that ask for more than fits use what is there, and do not write the file again each time.
func TestMoreThanFits(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, testName)
	large := sample()
	large.id = strings.Repeat("x", maxEntry/2)
	n := maxFileSize/len(large.id) + 40
	// ask is a process that needs all values: it parses those that are missing.
	ask := func() (found int) {
		t.Helper()
		c, log := in(dir)
		c.eager = false
		facts := Of[value](c, testName, 1)
		for i := range n {
			if _, ok := facts.Load(fmt.Sprint("/f", i)); ok {
				found++
			} else {
				facts.Store(fmt.Sprint("/f", i), &large, int64(len(large.id)))
			}
		}
		if facts.Flush(true); log.Len() > 0 {
			t.Fatal(log)
		}
		return found
	}
	// age sets the hours of the last use back.
	age := func(hours uint32) {
		t.Helper()
		c, _ := in(dir)
		f := Of[value](c, testName, 1).file
		v, damage := f.openView()
		must.Do(t, damage)
		b := &batch{used: map[uint64]uint32{}, aged: 1}
		for k := range v.len() {
			b.used[v.at(k).key] = hour(time.Now()) - hours
		}
		v.close()
		must.Do(t, f.save(b))
	}
	if ask() > 0 {
		t.Fatal("values in an empty folder")
	}
	expect := func(what string, written bool) {
		t.Helper()
		was, err := os.Stat(path)
		found := ask()
		now, nowErr := os.Stat(path)
		if err != nil || nowErr != nil || found < n-45 || os.SameFile(was, now) == written {
			t.Errorf("%s: %d values of %d; the same file: %v (%v, %v)", what, found, n, os.SameFile(was, now), err, nowErr)
		}
	}
	expect("at once", false)
	age(3)
	expect("after hours", false)
	age(usedAgain)
	expect("after a day", true)
	expect("once more", false)
}

// What is stored and not saved yet takes no more memory than the file may have.
func TestStoredIsBounded(t *testing.T) {
	c, _ := in(t.TempDir())
	c.eager = false
	facts := Of[value](c, testName, 1)
	large := sample()
	large.id = strings.Repeat("x", maxEntry/2)
	n := maxFileSize/len(large.id) + 40
	for range 2 { // the second time, each value replaces the first
		for i := range n {
			facts.Store(fmt.Sprint("/f", i), &large, 1)
		}
	}
	held := 0
	for _, one := range facts.file.next.added {
		held += len(one.data)
	}
	if held > maxFileSize || held < maxFileSize-2*maxEntry || facts.file.next.size > maxFileSize || facts.file.next.read > int64(2*n) {
		t.Errorf("%d bytes are held, counted as %d and %d", held, facts.file.next.size, facts.file.next.read)
	}
	small := sample()
	for i := range n {
		facts.Store(fmt.Sprint("/f", i), &small, 1)
	}
	if got := len(facts.file.next.added); got != n {
		t.Errorf("%d small values are held of %d", got, n)
	}
}

// A file that is cut off at any byte, or has any byte changed, gives right values or none.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 3)
	path := filepath.Join(dir, testName)
	whole, err := os.ReadFile(path)
	must.Do(t, err)
	try := func(what string, data []byte) {
		t.Helper()
		must.Do(t, os.WriteFile(path, data, 0o600))
		found, log := check(t, dir, 3)
		if found == 3 || strings.Count(log, "\n") != 1 || !strings.Contains(log, path) {
			t.Errorf("%s: %d values; the log has %q", what, found, log)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the file is still there (%v)", what, err)
		}
	}
	for n := range whole {
		try(fmt.Sprintf("cut off at byte %d", n), whole[:n])
		changed := bytes.Clone(whole)
		changed[n] ^= byte(1 + rand.IntN(255))
		try(fmt.Sprintf("byte %d changed", n), changed)
	}
	fill(t, dir, 3)
	if found, log := check(t, dir, 3); found != 3 || log != "" {
		t.Errorf("%d values afterwards; %s", found, log)
	}
}

// A folder that can't be written, or another thing in the place of the folder or the file, is as if there were no cache.
func TestUnusable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root may write into a folder that is read only")
	}
	for name, damage := range map[string]func(dir string) error{
		"read-only folder": func(dir string) error { return os.Chmod(dir, 0o500) },
		"a file":           func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) },
		"a folder in place of the file": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, testName)), os.MkdirAll(filepath.Join(dir, testName, "x"), 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "facts")
			fill(t, dir, 3)
			must.Do(t, damage(dir))
			t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
			c, _ := in(dir)
			facts := Of[value](c, testName, 1)
			v := sample()
			facts.Store("/f9", &v, 1)
			if got, ok := facts.Load("/f9"); !ok || got.n != v.n {
				t.Error("what was stored can't be loaded before it is saved")
			}
			facts.Flush(true)
			check(t, dir, 3)
		})
	}
}

// Temporary files of processes that died are removed after a while.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, "agent.1.tmp"), filepath.Join(dir, "agent.2.tmp")
	past := time.Now().Add(-2 * tmpAge)
	must.Do(t, errors.Join(os.WriteFile(old, nil, 0o600), os.WriteFile(young, nil, 0o600), os.Chtimes(old, past, past)))
	fill(t, dir, 1)
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old one is there: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
}

// TestTogether: ten processes load and save at the same time. Each finds right values or none, and none waits for a
// lock: there is no lock.
func TestTogether(t *testing.T) {
	const dirVar = "ROLLCALL_FACTS_DIR"
	if dir := os.Getenv(dirVar); dir != "" {
		for i := range 30 {
			if _, log := check(t, dir, 40); log != "" {
				t.Fatal(log)
			}
			fill(t, dir, 10+i)
		}
		return
	}
	dir := t.TempDir()
	var all []*exec.Cmd
	for range 10 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTogether$", "-test.v")
		cmd.Env = append(os.Environ(), dirVar+"="+dir)
		out := &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = out, io.Writer(out)
		must.Do(t, cmd.Start())
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, cmd.Stdout)
		}
	}
	if found, log := check(t, dir, 10); found != 10 || log != "" {
		t.Errorf("%d values, want 10; %s", found, log)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v, want one file", entries, err)
	}
}

// FuzzDecode: no bytes make the decoder fail in another way than by an error, or take memory without bound.
func FuzzDecode(f *testing.F) {
	c := codecOf(reflect.TypeFor[value]())
	v := sample()
	f.Add(c.append(nil, pointerTo(&v)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var got value
		d := decoder{rest: data}
		if c.read(&d, pointerTo(&got)); d.err != nil {
			return
		}
		again := decoder{rest: c.append(nil, pointerTo(&got))}
		var same value
		if c.read(&again, pointerTo(&same)); again.err != nil || len(again.rest) > 0 {
			t.Errorf("%+v can't be read again: %v", got, again.err)
		}
	})
}

// FuzzFile: any bytes in the place of the file give no values, or those that were saved.
func FuzzFile(f *testing.F) {
	dir := f.TempDir()
	c, _ := in(dir)
	facts := Of[value](c, testName, 1)
	v := sample()
	facts.Store("/f0", &v, 1)
	facts.Flush(true)
	path := filepath.Join(dir, testName)
	whole, err := os.ReadFile(path)
	must.Do(f, err)
	f.Add(whole)
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, testName), data, 0o600))
		c, _ := in(dir)
		facts := Of[value](c, testName, 1)
		facts.Load("/f0")
		facts.Store("/f1", &v, 1)
		facts.Flush(true)
		if _, ok := facts.Load("/f1"); !ok {
			t.Error("a damaged file was not replaced")
		}
	})
}
