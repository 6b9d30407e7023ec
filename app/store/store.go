// Package store keeps the small files that Rollcall owns: one JSON value in each file, private to the user. It also
// defines the paths of Rollcall's folders. A write replaces the whole file or nothing, even if the process is killed
// meanwhile. A file that can't be understood is set aside and never overwritten.
package store

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"rollcall/app/store/fault"
	"rollcall/bounded"
)

// Folder is a folder of such files. Its methods may be called by any goroutine of any process. Single reads and writes
// need no lock: a reader sees the former value or the new one. A caller that reads, decides and writes must hold Lock.
//
// The folder and its files are used only if they belong to the user and no one else can write them; otherwise methods
// return *UnsafeError. No method waits for a file system that does not answer (bounded.ErrNoAnswer).
type Folder struct {
	path string
	top  string // parent folder, which is checked as well; empty: only path is checked
}

// In returns the folder at this path. The first write creates it.
func In(path string) Folder { return Folder{path: path} }

// Below returns the folder with this name in Rollcall's folder top.
func Below(top, name string) Folder { return Folder{filepath.Join(top, name), top} }

// NameOf returns the name of the value that belongs to a path: 16 hexadecimal digits of its SHA-256.
func NameOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}

// NewID returns a prefix followed by n random bytes in hexadecimal digits.
func NewID(prefix string, n int) string {
	b := make([]byte, n)
	_, _ = crand.Read(b) // never fails
	return prefix + hex.EncodeToString(b)
}

// Path returns the path of the folder.
func (f Folder) Path() string { return f.path }

// File returns the path of a value's file.
func (f Folder) File(name string) string { return filepath.Join(f.path, name+suffix) }

// opener opens a folder and those below it, and checks them: OpenDir, or MakeDir, which creates them.
type opener func(path string, below ...string) (*Dir, error)

func (f Folder) open(with opener) (*Dir, error) {
	if f.top == "" {
		return with(f.path)
	}
	return with(f.top, filepath.Base(f.path))
}

// look calls do, which must not change anything, with the open folder.
func look[T any](f Folder, do func(*Dir) (T, error)) (T, error) {
	return bounded.In(f.path, bounded.ReadLimit, func(context.Context) (T, error) {
		var none T
		d, err := f.open(OpenDir)
		if err != nil {
			return none, err
		}
		defer d.Close()
		return do(d)
	})
}

// change calls do with the open folder. If change returns before do has finished, the context left is done, and do must not change anything from then on. The
// errors of change wrap ErrNotWritten.
func (f Folder) change(with opener, do func(left context.Context, d *Dir) error) error {
	_, err := bounded.In(f.path, bounded.WriteLimit, func(left context.Context) (struct{}, error) {
		d, err := f.open(with)
		if err != nil {
			return struct{}{}, err
		}
		defer d.Close()
		return struct{}{}, do(left, d)
	})
	if err != nil {
		err = &notWritten{err}
	}
	return err
}

const (
	suffix    = ".json"
	temporary = ".tmp-"
	damaged   = ".damaged-"
	guard     = ".lock"
	// maxSize is far above the size of any file that Rollcall writes.
	maxSize = 8 << 20
	// guardPause is the pause between attempts to take a lock that another process holds. guardLimit is the time after
	// which that process is taken to hang: no one holds the lock that long.
	guardPause = 5 * time.Millisecond
	guardLimit = 30 * time.Second
	// tmpAge is the age from which a temporary file counts as left behind by a process that died.
	tmpAge = time.Hour
)

// schema is the version of the files' format. A file without a number has version 1.
const schema = 1

// Checker is implemented by values that contain the name of their own file. A value that was read from another file is
// damaged: Rollcall did not write it there.
type Checker interface{ Check(name string) error }

// Write replaces the value, atomically and durably.
func (f Folder) Write(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", f.File(name), err)
	}
	data = append(numbered(data), '\n')
	return f.change(MakeDir, func(left context.Context, d *Dir) error {
		err := f.replace(left, d, name, data)
		for i := 0; i < writeAgain && errors.Is(err, fs.ErrNotExist); i++ {
			err = f.replace(left, d, name, data)
		}
		return err
	})
}

// writeAgain is how often a write is repeated if its temporary file was removed: if the clock jumps by tmpAge, a Sweep assumes that the writer is dead.
const writeAgain = 10

// replace writes a temporary file and renames it to the value's file. Its errors name the value's file instead of the
// temporary one, so that the same trouble has the same text each time.
func (f Folder) replace(left context.Context, d *Dir, name string, data []byte) (err error) {
	fault.Point("store.write.begin")
	temp := fmt.Sprintf("%s%s%x", name, temporary, rand.Uint64())
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", f.File(name), cause(err))
		}
	}()
	if err := d.WriteNew(temp, data, 0o600); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = d.Remove(temp)
		}
	}()
	fault.Point("store.write.synced")
	if left.Err() != nil {
		return bounded.ErrNoAnswer
	}
	err = retryBusy(func() error { return d.Rename(temp, name+suffix) })
	if err != nil {
		return err
	}
	fault.Point("store.write.renamed")
	d.Sync()
	return nil
}

// numbered adds the schema number as the first field of a JSON object.
func numbered(data []byte) []byte {
	fields, ok := bytes.CutPrefix(data, []byte("{\n"))
	if !ok {
		return data
	}
	return append(fmt.Appendf(nil, "{\n  \"schema\": %d,\n", schema), fields...)
}

// Read reads the value into v. Its errors are fs.ErrNotExist, *DamagedError for a file that was set aside, ErrNewer and
// those of the file system.
func (f Folder) Read(name string, v any) error {
	for {
		err := f.read(name, v)
		if !errors.Is(err, errReplaced) {
			return err
		}
		reflect.ValueOf(v).Elem().SetZero()
	}
}

func (f Folder) read(name string, v any) error {
	file, err := look(f, func(d *Dir) (raw, error) {
		r := f.raw(d, name)
		return r, r.err
	})
	if errors.Is(err, errForeign) || err == nil {
		return f.decode(name, file, v)
	}
	return err
}

// raw is the content of a value's file.
type raw struct {
	info fs.FileInfo
	same bool // the file has not changed, and so was not read
	err  error
	data []byte
}

func (f Folder) raw(d *Dir, name string) (r raw) {
	err := retryBusy(func() (err error) {
		r.data, r.info, err = d.Read(name+suffix, maxSize)
		return err
	})
	if errors.Is(err, ErrNotRegular) || errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("%w: %w", errForeign, err)
	}
	r.err = err
	return r
}

func (f Folder) decode(name string, file raw, v any) error {
	if errors.Is(file.err, errForeign) {
		return f.setAside(name, file.info, file.err)
	}
	if file.err != nil {
		return file.err
	}
	var form struct {
		Schema int `json:"schema"`
	}
	if json.Unmarshal(file.data, &form) == nil && form.Schema > schema {
		return fmt.Errorf("%s: %w", f.File(name), ErrNewer)
	}
	err := json.Unmarshal(file.data, v)
	if err == nil {
		if c, ok := v.(Checker); ok {
			err = c.Check(name)
		}
	}
	if err != nil {
		return f.setAside(name, file.info, err)
	}
	return nil
}

// setAside renames a damaged file. It returns errReplaced if another file has taken its place since it was read.
func (f Folder) setAside(name string, read fs.FileInfo, why error) error {
	e := &DamagedError{Path: f.File(name), Err: why}
	aside := name + suffix + damaged + time.Now().UTC().Format("20060102T150405.000000000")
	err := f.change(OpenDir, func(_ context.Context, d *Dir) error {
		if now, err := d.Lstat(name + suffix); err != nil || read == nil || !os.SameFile(now, read) {
			return errReplaced
		}
		return retryBusy(func() error { return d.Rename(name+suffix, aside) })
	})
	switch {
	case errors.Is(err, errReplaced):
		return errReplaced
	case err == nil:
		e.Aside = filepath.Join(f.path, aside)
	}
	return e
}

// Remove removes the value. It returns no error if there is none.
func (f Folder) Remove(name string) error {
	err := f.change(OpenDir, func(_ context.Context, d *Dir) error {
		return retryBusy(func() error { return d.Remove(name + suffix) })
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	fault.Point("store.removed")
	return err
}

// Names returns the names of the values, sorted. A folder that does not exist has none.
func (f Folder) Names() ([]string, error) {
	names, err := look(f, valueNames)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

func valueNames(d *Dir) ([]string, error) {
	files, err := d.Names()
	var names []string
	for _, file := range files {
		if name, ok := strings.CutSuffix(file, suffix); ok && !strings.Contains(name, temporary) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// Sweep removes the temporary files of processes that died while they wrote.
func (f Folder) Sweep(now time.Time) error {
	err := f.change(OpenDir, func(_ context.Context, d *Dir) error {
		files, err := d.Names()
		for _, file := range files {
			if !strings.Contains(file, temporary) {
				continue
			}
			if info, statErr := d.Lstat(file); statErr == nil && now.Sub(info.ModTime()) > tmpAge {
				err = errors.Join(err, d.Remove(file))
			}
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
