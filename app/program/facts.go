package program

import (
	"log/slog"
	"os"

	"rollcall/adapters"
	"rollcall/app/cli"
	"rollcall/app/settings"
	"rollcall/app/store"
)

// facts decides whether the adapters store what they parsed from agents' files for later processes.
type facts struct {
	version cli.Version
	off     bool // by --no-cache
}

func (f *facts) turnOff() { f.off = true }

// cache returns the cache of this process, or nil if the user wants no cache or the system has no folder for caches. It
// creates nothing on disk.
func (f *facts) cache(set *settings.Settings) *adapters.FactsCache {
	if f.off || !set.UsesCache() {
		return nil
	}
	path, err := store.FactsPath()
	if err != nil {
		return nil
	}
	open := func(create bool) (adapters.FactsFolder, error) {
		if create {
			return folder(store.MakeDir(path))
		}
		return folder(store.OpenDir(path))
	}
	return adapters.NewFactsCache(open, f.version.Version+" "+f.version.Commit, slog.New(slog.NewTextHandler(os.Stderr, nil)))
}

// folder returns the cache's folder, or nil with an error. It never returns an interface that contains a nil *owned.Dir.
func folder(d *store.Dir, err error) (adapters.FactsFolder, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}
