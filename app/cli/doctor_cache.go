package cli

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"rollcall/app"
	"rollcall/app/owned"
	"rollcall/app/present"
	"rollcall/app/store"
	"rollcall/bounded"
)

// cacheCheck returns doctor's finding about the cache of what was parsed of agents' files.
func (c *doctorCommand) cacheCheck() (checkJSON, bool) {
	if c.deps.WithoutCache == nil {
		return checkJSON{}, false
	}
	check := checkJSON{Name: "cache", State: string(app.OK)}
	path, err := store.FactsPath()
	set := c.settings()
	switch {
	case err != nil:
		check.Detail = "none: the folder for caches is not known"
		return check, true
	case !set.UsesCache():
		check.Detail = "off by the settings"
		return check, true
	}
	bytes, err := bounded.In(path, bounded.ReadLimit, func(context.Context) (int64, error) { return folderSize(path) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		check.Detail = path + ": empty"
	case err != nil:
		check.State, check.Detail = string(app.Failed), err.Error()
	default:
		check.Detail = path + ": " + size(bytes)
	}
	check.Detail = present.Line(check.Detail)
	return check, true
}

// folderSize returns the size of the files in a folder of the user's own.
func folderSize(path string) (bytes int64, err error) {
	dir, err := owned.OpenDir(path)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	names, err := dir.Names()
	for _, name := range names {
		if info, err := dir.Lstat(filepath.Base(name)); err == nil {
			bytes += info.Size()
		}
	}
	return bytes, err
}
