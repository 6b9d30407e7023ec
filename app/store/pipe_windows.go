package store

import (
	"errors"
	"os"
)

// MakePipe is not supported on Windows.
func (d *Dir) MakePipe(string) error { return errors.ErrUnsupported }

// OpenPipe is not supported on Windows.
func (d *Dir) OpenPipe(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// TryLockFile is not supported on Windows.
func TryLockFile(*os.File) (bool, error) { return false, errors.ErrUnsupported }
