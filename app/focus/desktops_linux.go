package focus

import (
	"os"
	"slices"
	"strings"
)

// Here returns the desktop of the environment, or nil if its windows cannot be known.
func Here() Desktop {
	list := []Desktop{fromSway(), fromHyprland(), fromX11()}
	for _, d := range list {
		if d != nil {
			return d
		}
	}
	return nil
}

// Desktops returns the desktops of the environment on which windows can be raised, the one that knows most first. The caller
// closes them.
func Desktops() (list []Desktop) {
	for _, d := range []Desktop{fromSway(), fromHyprland(), fromKWin(), fromX11()} {
		if d != nil {
			list = append(list, d)
		}
	}
	return list
}

func fromX11() Desktop {
	if display := os.Getenv("DISPLAY"); display != "" {
		return OnX11(display)
	}
	return nil
}

func fromSway() Desktop {
	if socket := os.Getenv("SWAYSOCK"); socket != "" {
		return OnSway(socket)
	}
	return nil
}

func fromHyprland() Desktop {
	if instance := os.Getenv("HYPRLAND_INSTANCE_SIGNATURE"); instance != "" {
		return OnHyprland(hyprlandSocket(os.Getenv("XDG_RUNTIME_DIR"), instance))
	}
	return nil
}

// isKDEWayland reports whether the desktop is KDE Plasma on Wayland, by the environment.
func isKDEWayland() bool {
	return os.Getenv("WAYLAND_DISPLAY") != "" && slices.Contains(strings.Split(os.Getenv("XDG_CURRENT_DESKTOP"), ":"), "KDE")
}
