//go:build !unix && !windows

package trash

import "errors"

func deviceOf(string) (uint64, error) { return 0, errors.ErrUnsupported }

func (t *Trash) put(string) (string, error) { return "", ErrNone }
