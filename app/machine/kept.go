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

// List returns the stored machines, by name, and what is wrong with the others.
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

// Follow replaces the machines with those of the settings and the stored ones, each time that a stored one changes, until ctx is done.
func (k *Kept) Follow(ctx context.Context, set []settings.Machine, m *Machines) error {
	changes, err := k.folder.Changes(ctx)
	if changes == nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changes:
		}
		list, err := Open(set, k)
		if err != nil {
			m.log.Warn("some machines are not used", "error", err)
		}
		m.Set(list)
	}
}

// Open returns the machines of the settings and the stored ones. The error says which stored ones are not used; the others are.
func Open(set []settings.Machine, k *Kept) ([]settings.Machine, error) {
	list, err := k.List()
	out := slices.Clone(set)
	for _, m := range list {
		if slices.ContainsFunc(set, func(s settings.Machine) bool { return s.Name == m.Name }) {
			err = errors.Join(err, fmt.Errorf("machine %s of machine add is not used: config.toml has one of this name; remove one of them (rollcall machine remove %s)", m.Name, m.Name))
			continue
		}
		out = append(out, m)
	}
	return out, err
}
