//go:build desktops && linux

package desktops

import (
	"fmt"
	"image"

	"rollcall/internal/desktoptest"
)

// size is the size of the screen at a scale of 1.
var size = image.Pt(1280, 800)

// look is how a user has set up the desktop.
type look struct {
	dark  bool
	scale int // 2: everything has twice as many pixels in each direction
}

// environment is a desktop environment, and how its user reaches the tray in it.
type environment struct {
	session func(look) *desktoptest.Session
	keys    []string        // pressed first
	strip   image.Rectangle // the part of the screen in which the panel is, at a scale of 1
	menu    int             // the button that opens the menu
	window  int             // the button that opens the window; 0: the icon has only the menu
	// The places of the first row and of "Show terminal", as shares of the menu's height.
	row, submenu float64
}

var environments = map[string]environment{
	"plasma": {session: plasma, strip: image.Rect(0, 740, 1280, 800), menu: 3, window: 1, row: 0.1, submenu: 0.49},
	"mate":   {session: mate, strip: image.Rect(0, 0, 1280, 30), menu: 3, window: 1, row: 0.07, submenu: 0.39},
	"gnome": {session: gnome, keys: []string{"Escape"}, strip: image.Rect(0, 0, 1280, 34), menu: 1,
		row: 0.1, submenu: 0.41},
	"cinnamon": {session: cinnamon, strip: image.Rect(0, 750, 1280, 800), menu: 3, window: 1, row: 0.1, submenu: 0.48},
}

// pick returns one of two texts.
func (l look) pick(ifDark, ifLight string) string {
	if l.dark {
		return ifDark
	}
	return ifLight
}

func plasma(l look) *desktoptest.Session {
	theme := l.pick("org.kde.breezedark.desktop", "org.kde.breeze.desktop")
	colours := l.pick("BreezeDark", "BreezeLight")
	return &desktoptest.Session{
		Name: "Plasma",
		Env: []string{"XDG_CURRENT_DESKTOP=KDE", "KDE_FULL_SESSION=true", "KDE_SESSION_VERSION=5", "QT_QUICK_BACKEND=software",
			"XDG_CONFIG_DIRS=/etc/xdg", "XDG_DATA_DIRS=/usr/local/share:/usr/share"},
		Files: map[string]string{
			".config/kdeglobals":       fmt.Sprintf("[KDE]\nLookAndFeelPackage=%s\n[General]\nColorScheme=%s\n", theme, colours),
			".config/plasmarc":         fmt.Sprintf("[Theme]\nname=%s\n", l.pick("breeze-dark", "breeze-light")),
			".config/kwinrc":           "[Compositing]\nEnabled=false\n",
			".config/kscreenlockerrc":  "[Daemon]\nAutolock=false\n",
			".config/plasma-welcomerc": "[General]\nShouldShow=false\n",
		},
		Services: []string{"org.kde.ActivityManager.service", "org.kde.kactivitymanagerd.service", "org.kde.kglobalaccel.service"},
		Programs: []desktoptest.Program{
			{Argv: []string{"kwin_x11"}, Name: "org.kde.KWin"},
			{Argv: []string{"kded5"}, Name: "org.kde.kded5"},
			{Argv: []string{"plasmashell", "--no-respawn"}, Name: "org.kde.plasmashell"},
		},
	}
}

func mate(l look) *desktoptest.Session {
	theme := l.pick("BlackMATE", "Menta")
	return &desktoptest.Session{
		Name: "MATE",
		Env:  []string{"XDG_CURRENT_DESKTOP=MATE", "GSETTINGS_BACKEND=keyfile"},
		Files: map[string]string{".config/glib-2.0/settings/keyfile": fmt.Sprintf(`[org/mate/desktop/interface]
gtk-theme='%[1]s'
icon-theme='mate'
window-scaling-factor=%[2]d
[org/mate/marco/general]
theme='%[1]s'
compositing-manager=false
[org/mate/panel/general]
toplevel-id-list=['top']
object-id-list=['tray', 'clock']
[org/mate/panel/toplevels/top]
expand=true
orientation='top'
size=28
[org/mate/panel/objects/tray]
object-type='applet'
applet-iid='NotificationAreaAppletFactory::NotificationArea'
toplevel-id='top'
position=10
panel-right-stick=true
[org/mate/panel/objects/clock]
object-type='applet'
applet-iid='ClockAppletFactory::ClockApplet'
toplevel-id='top'
position=0
panel-right-stick=true
`, theme, l.scale)},
		Services: []string{"org.mate.panel.applet.NotificationAreaAppletFactory.service", "org.mate.panel.applet.ClockAppletFactory.service", "org.freedesktop.mate.Notifications.service"},
		Programs: []desktoptest.Program{
			{Argv: []string{"marco"}},
			{Argv: []string{"mate-settings-daemon"}, Name: "org.mate.SettingsDaemon"},
			{Argv: []string{"mate-panel"}, Name: "org.mate.Panel"},
		},
	}
}

func gnome(l look) *desktoptest.Session {
	return &desktoptest.Session{
		Name:      "GNOME",
		SystemBus: true,
		Env:       []string{"XDG_CURRENT_DESKTOP=GNOME", "GSETTINGS_BACKEND=keyfile", "GNOME_SHELL_SESSION_MODE=user", "XDG_DATA_DIRS=/usr/local/share:/usr/share"},
		Files: map[string]string{".config/glib-2.0/settings/keyfile": fmt.Sprintf(`[org/gnome/shell]
enabled-extensions=['ubuntu-appindicators@ubuntu.com']
welcome-dialog-last-shown-version='999'
[org/gnome/desktop/interface]
color-scheme='%s'
enable-animations=false
scaling-factor=uint32 %d
`, l.pick("prefer-dark", "prefer-light"), l.scale)},
		Services: []string{"org.gnome.Shell.Notifications.service"},
		Programs: []desktoptest.Program{{Argv: []string{"gnome-shell", "--x11"}, Name: "org.gnome.Shell"}},
	}
}

func cinnamon(l look) *desktoptest.Session {
	theme := l.pick("Adwaita-dark", "Adwaita")
	return &desktoptest.Session{
		Name:      "Cinnamon",
		SystemBus: true,
		Env:       []string{"XDG_CURRENT_DESKTOP=X-Cinnamon", "GSETTINGS_BACKEND=keyfile", "XDG_DATA_DIRS=/usr/local/share:/usr/share", "CINNAMON_2D=true"},
		Files: map[string]string{".config/glib-2.0/settings/keyfile": fmt.Sprintf(`[org/cinnamon/desktop/interface]
gtk-theme='%[1]s'
scaling-factor=uint32 %[2]d
[org/cinnamon]
startup-animation=false
`, theme, l.scale)},
		Programs: []desktoptest.Program{
			{Argv: []string{"cinnamon", "--replace"}, Name: "org.Cinnamon"},
			{Argv: []string{"csd-xsettings"}},
		},
	}
}
