package keep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Installation is what Install wrote, or Uninstall removed.
type Installation struct {
	Paths []string
	Hint  string // what the user may want to do now, as a sentence
}

// write writes a file of the user's system, with its folders.
func (i *Installation) write(path, text string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		i.Paths = append(i.Paths, path)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("start the keeper at login: %w", err)
	}
	temporary := path + ".rollcall-new"
	err := os.WriteFile(temporary, []byte(text), 0o644)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		_ = os.Remove(temporary)
		return fmt.Errorf("start the keeper at login: %w", err)
	}
	i.Paths = append(i.Paths, path)
	return nil
}

// remove removes a file, if it exists.
func (i *Installation) remove(path string) error {
	err := os.Remove(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("stop starting the keeper at login: %w", err)
	}
	i.Paths = append(i.Paths, path)
	return nil
}
