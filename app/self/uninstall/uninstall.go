// Package uninstall removes what Rollcall left in the user's folders: its state, settings, caches, and what starts it at
// login. The program's own files belong to the package manager or installer that brought them.
package uninstall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rollcall/app/self/autostart"
	"rollcall/app/self/instance"
	"rollcall/app/store"
	"rollcall/bounded"
)

// Item is something that can be removed.
type Item struct {
	Path  string
	What  string // it has
	Files int
	Bytes int64
	entry *autostart.Entry // nil: a folder
}

// toolkitID names the folders that the window's toolkit makes for Rollcall.
const toolkitID = "io.github.rollcall.Rollcall"

// Plan returns the items that exist; what starts at login comes first. The error says what could not be checked.
func Plan() (items []Item, err error) {
	var errs []error
	for _, e := range []autostart.Entry{autostart.Tray, autostart.Keeper} {
		s, err := e.State()
		errs = append(errs, err)
		if len(s.Paths) > 0 {
			items = append(items, Item{Path: s.Paths[0], What: fmt.Sprintf("starts %s at login", e), Files: len(s.Paths), entry: &e})
		}
	}
	folders, err := folders()
	errs = append(errs, err)
	for _, f := range folders {
		err := f.measure()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		errs = append(errs, err)
		if err == nil {
			items = append(items, f)
		}
	}
	return items, errors.Join(errs...)
}

// folders returns the folders that Rollcall may have created, each once.
func folders() (list []Item, err error) {
	state, err := store.StatePath()
	if err != nil {
		return nil, err
	}
	list = append(list, Item{Path: state, What: "records of launches, locks, timers, logs"})
	settings, err := store.SettingsPath()
	if err != nil {
		return nil, err
	}
	list = append(list, Item{Path: filepath.Dir(settings), What: "settings"})
	config := filepath.Dir(filepath.Dir(settings))
	list = append(list, Item{Path: filepath.Join(config, "fyne", toolkitID), What: "the window's preferences"})
	if cache, err := os.UserCacheDir(); err == nil {
		list = append(list, Item{Path: filepath.Join(cache, "rollcall"), What: "caches"}, Item{Path: filepath.Join(cache, "fyne", toolkitID), What: "the window's caches"})
	}
	for _, dir := range store.RuntimePaths() {
		list = append(list, Item{Path: dir, What: "sockets of running processes"})
	}
	slices.SortStableFunc(list, func(a, b Item) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(list, func(a, b Item) bool { return a.Path == b.Path }), nil
}

// measure counts the files of a folder that belongs to the user. It follows no links, and does not wait for a file system
// that does not answer.
func (i *Item) measure() error {
	counted, err := bounded.In(i.Path, bounded.ReadLimit, func(ctx context.Context) (n Item, err error) {
		if _, err := os.Lstat(i.Path); err != nil {
			return n, err
		}
		dir, err := store.OpenDir(i.Path)
		if err != nil {
			return n, err
		}
		dir.Close()
		err = filepath.WalkDir(i.Path, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return cmp.Or(err, ctx.Err())
			}
			n.Files++
			if info, err := d.Info(); err == nil {
				n.Bytes += info.Size()
			}
			return ctx.Err()
		})
		return n, err
	})
	i.Files, i.Bytes = counted.Files, counted.Bytes
	return err
}

// Remove removes an item. It checks again that the item is Rollcall's own, and leaves an edited entry as it is.
func (i *Item) Remove() error {
	if i.entry != nil {
		_, err := i.entry.Off()
		return err
	}
	_, err := bounded.In(i.Path, bounded.WriteLimit, func(context.Context) (struct{}, error) {
		dir, err := store.OpenDir(i.Path)
		if err != nil {
			return struct{}{}, err
		}
		dir.Close()
		return struct{}{}, os.RemoveAll(i.Path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Running returns the names of Rollcall's own processes that run: the tray or the window. They would recreate files that were removed.
func Running() (names []string, err error) {
	state, err := store.StatePath()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{instance.Tray, instance.Window} {
		for _, dir := range append(store.RuntimePaths(), state) {
			running, err := instance.Running(dir, name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return names, err
			}
			if running && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
