package cli

import (
	"errors"

	"rollcall/app/machine"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/marks"
	"rollcall/app/owned/told"
	"rollcall/app/settings"
	"rollcall/app/store/quiet"
)

// complete returns d with what it lacks: nothing is set, there are no other machines, and nothing else can be opened, as without a state folder.
func complete(d Deps) Deps {
	if d.WithoutCache == nil {
		d.WithoutCache = func() {}
	}
	if d.Launches == nil {
		d.Launches = unopened[launch.Launches]
	}
	if d.Live == nil {
		d.Live = unopened[settings.Live]
	}
	if d.Quiet == nil {
		d.Quiet = unopened[quiet.Quiet]
	}
	if d.Marks == nil {
		d.Marks = unopened[marks.Marks]
	}
	if d.Told == nil {
		d.Told = unopened[told.Limits]
	}
	if d.Settings == nil {
		d.Settings = func() (settings.Settings, error) { return settings.Settings{}, nil }
	}
	if d.Machines == nil {
		d.Machines = func() (*machine.Machines, *machine.Kept, error) { return machine.New(nil, nil), nil, nil }
	}
	if d.Fuses == nil {
		d.Fuses = unopened[fuse.Fuses]
	}
	if d.Leave == nil {
		d.Leave = func(int) {}
	}
	return d
}

func unopened[T any]() (*T, error) { return nil, errors.New("no state folder") }
