package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"rollcall/bounded"
)

// Lock waits until neither this process nor another one holds the folder's lock, and takes it. It fails when ctx is done
// or the holder seems to hang. The kernel releases the lock of a process that dies.
func (f Folder) Lock(ctx context.Context) (unlock func(), err error) {
	if err := f.change(MakeDir, checkGuard); err != nil {
		return nil, fmt.Errorf("lock %s: %w", f.path, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, guardLimit, fmt.Errorf("another Rollcall has held the lock for %s; end it if it hangs", guardLimit))
	defer cancel()
	// One lock object per call: the kernel's locks belong to the open file, so goroutines of one process exclude each other
	// like processes.
	l := flock.New(filepath.Join(f.path, guard), flock.SetPermissions(0o600), flock.SetFlag(LockFlags))
	for {
		got, err := bounded.In(f.path, bounded.WriteLimit, func(left context.Context) (bool, error) {
			got, err := l.TryLock()
			if left.Err() != nil {
				_ = l.Close()
			}
			return got, err
		})
		switch {
		case errors.Is(err, bounded.ErrNoAnswer): // l is not used any more either
			return nil, fmt.Errorf("lock %s: %w", f.path, &notWritten{err})
		case err != nil:
			_ = l.Close()
			return nil, fmt.Errorf("lock %s: %w", f.path, &notWritten{cause(err)})
		case got:
			return func() { f.release(l) }, nil
		}
		if bounded.Wait(ctx, guardPause) != nil {
			f.release(l)
			return nil, fmt.Errorf("lock %s: %w", f.path, context.Cause(ctx))
		}
	}
}

// release closes the file of a lock. It does not wait for a file system that hangs.
func (f Folder) release(l *flock.Flock) {
	done := make(chan struct{})
	go func() { _ = l.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(bounded.WriteLimit):
	}
}

// checkGuard returns an error for a lock file that is a link, a pipe or another user's. Opening a pipe may block forever.
func checkGuard(_ context.Context, d *Dir) error {
	file, _, err := d.Open(guard)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, ErrNotRegular):
		return &UnsafeError{Path: d.File(guard), Why: ErrNotRegular.Error(), Fix: "Remove it: Rollcall creates it again."}
	case err != nil:
		return err
	}
	return file.Close()
}

// Make creates the folder, for the user alone.
func (f Folder) Make() error {
	return f.change(MakeDir, func(context.Context, *Dir) error { return nil })
}
