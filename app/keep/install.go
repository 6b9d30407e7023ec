package keep

import "rollcall/app/autostart"

// Installation is what Install wrote, or Uninstall removed.
type Installation = autostart.Change

// Install makes the system start the keeper when the user logs in.
func Install() (Installation, error) { return autostart.Keeper.On() }

// Uninstall undoes Install.
func Uninstall() (Installation, error) { return autostart.Keeper.Off() }

// Installed reports whether the system starts the keeper when the user logs in.
func Installed() bool {
	s, err := autostart.Keeper.State()
	return err == nil && s.On
}
