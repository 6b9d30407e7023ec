package sqlitero

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
)

// snapshot holds the open files of one read.
type snapshot struct {
	ctx     context.Context
	db, wal *os.File // wal is nil where there is none
	walSize int64
	before  Stamp
}

// open takes the stamp before it opens the files: a write in between changes the stamp
// that is taken afterwards.
func open(ctx context.Context, path string) (*snapshot, error) {
	path, err := agentproc.EvalSymlinks(path) // the log is next to the real file
	if err != nil {
		return nil, err
	}
	before, err := Look(path)
	if err != nil {
		return nil, err
	}
	s := &snapshot{ctx: ctx, before: before}
	s.db, err = agentfile.Open(path)
	if err == nil && before.walPresent {
		err = s.openWAL(path + "-wal")
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *snapshot) openWAL(path string) (err error) {
	s.wal, err = agentfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errSpoilt
	}
	if err != nil {
		return err
	}
	fi, err := s.wal.Stat()
	if err == nil {
		s.walSize = fi.Size()
	}
	return err
}

func (s *snapshot) close() {
	if s.db != nil {
		s.db.Close()
	}
	if s.wal != nil {
		s.wal.Close()
	}
}

// regular returns an error for a file that could block, or never end, when it is opened
// and read.
func regular(path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return err
	}
	err = agentfile.CheckRegular(fi)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w: %w", ErrNotDatabase, err)}
	}
	return nil
}
