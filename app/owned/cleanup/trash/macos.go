//go:build darwin

package trash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rollcall/app/store"
)

// put moves the file to ~/.Trash, or to the trash on the file's volume. The Finder shows it there, without "Put Back".
// This code was compiled and vetted, but never run.
func (t *Trash) put(path string) (string, error) {
	dirs := []string{filepath.Join(t.home, ".Trash")}
	here, err := t.device(path)
	if err != nil {
		return "", err
	}
	if there, err := t.device(t.home); err != nil || here != there {
		top, err := t.top(path)
		if err != nil {
			return "", err
		}
		dirs = append([]string{filepath.Join(top, ".Trashes", strconv.Itoa(os.Getuid()))}, dirs...)
	}
	var errs []error
	for _, dir := range dirs {
		where, err := into(dir, path)
		if err == nil {
			return where, nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("move to the Trash: %w", errors.Join(errs...))
}

func into(dir, path string) (string, error) {
	if err := private(dir); err != nil {
		return "", err
	}
	name, ext := filepath.Base(path), filepath.Ext(path)
	stem := strings.TrimSuffix(name, ext)
	for n := 2; n <= maxTries; n++ {
		to := filepath.Join(dir, name)
		if store.Missing(to) {
			return to, move(path, to)
		}
		name = stem + " " + strconv.Itoa(n) + ext
	}
	return "", fmt.Errorf("%s: no free name for %s", dir, filepath.Base(path))
}
