//go:build !headless

package window

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"

	"rollcall/app/instance"
	"rollcall/app/owned"
	"rollcall/app/store"
	"rollcall/bounded"
)

// The sizes of the window, in Fyne's units.
var (
	defaultSize = fyne.NewSize(1040, 680)
	leastSize   = fyne.NewSize(420, 400)
	mostSize    = fyne.NewSize(8000, 8000)
)

// sizeFile stores the window's size between runs, in the state folder. Fyne's own preferences are not used: they are not
// written atomically, and not always in time.
const sizeFile = store.Window

type size struct {
	Width  float32 `json:"width"`
	Height float32 `json:"height"`
}

// lastSize returns the size that the window had at its last end; first reports that no window of this user has ended yet. It renames a file
// that it cannot parse.
func lastSize() (last fyne.Size, first bool) {
	dir, err := store.StatePath()
	if err != nil {
		return defaultSize, false
	}
	path := filepath.Join(dir, sizeFile)
	data, err := bounded.In(dir, bounded.ReadLimit, func(context.Context) ([]byte, error) {
		d, err := owned.OpenDir(dir)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		data, _, err := d.Read(sizeFile, 4<<10)
		return data, err
	})
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			fmt.Fprintln(os.Stderr, "rollcall:", err)
		}
		return defaultSize, errors.Is(err, os.ErrNotExist)
	}
	var s size
	if err := json.Unmarshal(data, &s); err != nil {
		aside := path + ".damaged"
		fmt.Fprintf(os.Stderr, "rollcall: cannot read the window's size: %s is damaged (%v); it was renamed to %s\n", path, err, aside)
		_ = os.Rename(path, aside)
		return defaultSize, false
	}
	got := fyne.NewSize(s.Width, s.Height)
	return got.Max(leastSize).Min(mostSize), false
}

// storeSize writes the size for the next start. It replaces the file as a whole, or leaves it as it was.
func storeSize(s fyne.Size) error {
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
