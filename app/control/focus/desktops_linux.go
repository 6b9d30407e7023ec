package focus

import (
	"cmp"
	"os"
	"slices"

	"rollcall/proc/desktop"
)

// Here returns the desktop of the environment, or nil if its windows cannot be known.
func Here() desktop.Desktop {
	return cmp.Or(fromSway(), fromHyprland(), fromX11())
}

// Desktops returns the desktops of the environment on which windows can be raised, the one that reports most windows first.
func Desktops() []desktop.Desktop {
	return slices.DeleteFunc([]desktop.Desktop{fromSway(), fromHyprland(), fromKWin(), fromX11()}, func(d desktop.Desktop) bool { return d == nil })
}

func fromX11() desktop.Desktop {
	if display := os.Getenv("DISPLAY"); display != "" {
		return desktop.OnX11(display)
	}
	return nil
}

func fromSway() desktop.Desktop {
	if socket := os.Getenv("SWAYSOCK"); socket != "" {
		return desktop.OnSway(socket)
	}
	return nil
}

func fromHyprland() desktop.Desktop {
	if instance := os.Getenv("HYPRLAND_INSTANCE_SIGNATURE"); instance != "" {
		return desktop.OnHyprland(desktop.HyprlandSocket(os.Getenv("XDG_RUNTIME_DIR"), instance))
	}
	return nil
}
