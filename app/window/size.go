//go:build !headless

package window

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"fyne.io/fyne/v2"

	"rollcall/app/self/instance"
	"rollcall/app/store"
)

// The sizes of the window, in Fyne's units.
var (
	defaultSize = fyne.NewSize(1040, 680)
	leastSize   = fyne.NewSize(420, 400)
	mostSize    = fyne.NewSize(8000, 8000)
)

// sizeName is the name under which the window's size is stored in the state folder. Fyne's own preferences are not used:
// they are not written atomically, and not always in time.
var sizeName = strings.TrimSuffix(store.Window, ".json")

type size struct {
	Width  float32 `json:"width"`
	Height float32 `json:"height"`
}

// IsFirst reports whether no window of this user was ever opened.
func IsFirst() bool {
	_, first := lastSize()
	return first
}

// lastSize returns the size that the window had when it was last closed. first reports that no window of this user was opened yet.
func lastSize() (last fyne.Size, first bool) {
	dir, err := store.StatePath()
	if err != nil {
		return defaultSize, false
	}
	var s size
	switch err := store.In(dir).Read(sizeName, &s); {
	case errors.Is(err, os.ErrNotExist):
		return defaultSize, true
	case err != nil:
		fmt.Fprintln(os.Stderr, "rollcall: cannot read the window's size:", err)
		return defaultSize, false
	}
	return fyne.NewSize(s.Width, s.Height).Max(leastSize).Min(mostSize), false
}

// storeSize writes the size for the next start.
func storeSize(s fyne.Size) error {
	dir, err := instance.StateFolder()
	if err != nil {
		return err
	}
	return store.In(dir).Write(sizeName, size{s.Width, s.Height})
}
