//go:build !headless

package window

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"

	"rollcall/app/instance"
)

// The sizes of the window, in Fyne's units.
var (
	defaultSize = fyne.NewSize(1040, 680)
	leastSize   = fyne.NewSize(420, 400)
	mostSize    = fyne.NewSize(8000, 8000)
)

// sizeFile keeps the window's size between runs, in the state folder. Fyne's
// own preferences are not used for it: they are neither written atomically nor
// always in time.
const sizeFile = "window.json"

type size struct {
	Width  float32 `json:"width"`
	Height float32 `json:"height"`
}

// lastSize is the size that the window had last. A damaged file is set aside.
func lastSize() fyne.Size {
	dir, err := instance.StateFolder()
	if err != nil {
		return defaultSize
	}
	path := filepath.Join(dir, sizeFile)
	data, err := os.ReadFile(path)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			fmt.Fprintln(os.Stderr, "rollcall:", err)
		}
		return defaultSize
	}
	var s size
	if err := json.Unmarshal(data, &s); err != nil {
		aside := path + ".damaged"
		fmt.Fprintf(os.Stderr, "rollcall: %s is damaged (%v); it is set aside as %s\n", path, err, aside)
		_ = os.Rename(path, aside)
		return defaultSize
	}
	got := fyne.NewSize(s.Width, s.Height)
	return got.Max(leastSize).Min(mostSize)
}

// rememberSize replaces the file as a whole, or leaves it as it was.
func rememberSize(s fyne.Size) error {
	dir, err := instance.StateFolder()
	if err != nil {
		return err
	}
	data, err := json.Marshal(size{s.Width, s.Height})
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, sizeFile+".*")
	if err != nil {
		return err
	}
	_, err = temp.Write(append(data, '\n'))
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), filepath.Join(dir, sizeFile))
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
