package machine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rollcall/app/settings"
	"rollcall/app/store"
)

// Kept are the machines that machine add has stored. Those of config.toml are the user's own, and Rollcall never writes that file.
type Kept struct{ folder store.Folder }

// KeptIn returns the machines that are stored in a folder, which may not exist yet.
func KeptIn(folder store.Folder) *Kept { return &Kept{folder} }

// stored is the file of one machine.
type stored struct {
	settings.Machine
}

// Check implements store.Checker.
func (s *stored) Check(name string) error {
	if store.NameOf(s.Name) != name {
		return errors.New("it is not the file of this machine")
	}
	return s.Machine.Check()
}

// List returns the stored machines, by name, and an error that describes the files that could not be used.
func (k *Kept) List() ([]settings.Machine, error) {
	all, err := store.All[stored](k.folder)
	var out []settings.Machine
	for _, s := range all {
		out = append(out, s.Machine)
	}
	slices.SortFunc(out, func(a, b settings.Machine) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// Add stores a machine. It replaces one of the same name.
func (k *Kept) Add(ctx context.Context, m settings.Machine) error {
	if err := m.Check(); err != nil {
		return err
	}
	if err := k.folder.Make(); err != nil {
		return err
	}
	unlock, err := k.folder.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return k.folder.Write(store.NameOf(m.Name), &stored{m})
}

// Remove removes a stored machine. It reports whether there was one.
func (k *Kept) Remove(ctx context.Context, name string) (bool, error) {
	list, err := k.List()
	if !slices.ContainsFunc(list, func(m settings.Machine) bool { return m.Name == name }) {
		return false, err
	}
	unlock, err := k.folder.Lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	return true, k.folder.Remove(store.NameOf(name))
}

// Sources are where the user's machines come from.
type Sources struct {
	// Settings returns the machines of config.toml as they are now.
	Settings func() []settings.Machine
	// Changed receives when the result of Settings may have changed; nil: never.
	Changed <-chan struct{}
	// Kept are the machines that machine add has stored; nil: they are not known.
	Kept *Kept
	// Report is called with an error that describes what is wrong with the machines whenever it changes, and with nil if nothing is. It must not block.
	Report func(error)
}

// Follow replaces the machines with those of the sources at once, and again whenever the sources change, until ctx is done.
func (m *Machines) Follow(ctx context.Context, from Sources) error {
	var changes <-chan struct{}
	var unwatched error
	if from.Kept != nil {
		changes, unwatched = from.Kept.folder.Changes(ctx)
		if changes != nil {
			unwatched = nil // the folder is watched as soon as it exists
		}
	}
	var said error
	for {
		list, err := Open(from.Settings(), from.Kept)
		m.Set(list)
		err = errors.Join(unwatched, err)
		if fmt.Sprint(err) != fmt.Sprint(said) {
			said = err
			from.Report(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changes:
		case <-from.Changed:
		}
	}
}

// Open returns the machines of the settings and the stored ones; k may be nil. The error says which stored ones are not used; the others are.
func Open(set []settings.Machine, k *Kept) ([]settings.Machine, error) {
	out := slices.Clone(set)
	if k == nil {
		return out, nil
	}
	list, err := k.List()
	for _, m := range list {
		if slices.ContainsFunc(set, func(s settings.Machine) bool { return s.Name == m.Name }) {
			err = errors.Join(err, fmt.Errorf("machine %s, which machine add stored, is not used: config.toml has a machine of this name; remove one of the two (rollcall machine remove %s)", m.Name, m.Name))
			continue
		}
		out = append(out, m)
	}
	return out, err
}
