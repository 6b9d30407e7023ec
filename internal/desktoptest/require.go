package desktoptest

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// TB is the part of testing.TB that this package uses, so that programs can
// import it without the testing package.
type TB interface {
	Helper()
	Cleanup(func())
	Logf(format string, args ...any)
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
	Failed() bool
}

// xfconfService stands for the settings daemon of xfce: its path depends on the
// machine's architecture and is written in this file.
const xfconfService = "/usr/share/dbus-1/services/org.xfce.Xfconf.service"

// packages maps each program to the Debian package that brings it.
var packages = map[string]string{
	"Xvfb":        "xvfb",
	"dbus-daemon": "dbus-daemon",
	"openbox":     "openbox",
	"xdotool":     "xdotool",
	"dunst":       "dunst",
	XfcePanel:     "xfce4-panel",
	xfconfService: "xfconf",
	LXQtPanel:     "lxqt-panel",
}

// Missing returns the Debian packages that Start needs for o and that are not
// installed; empty when the desktop can start.
func Missing(o Options) []string {
	need := []string{"Xvfb", "dbus-daemon", "xdotool"}
	if o.Session == nil {
		need = append(need, "openbox")
	}
	if o.Notifications {
		need = append(need, "dunst")
	}
	switch o.Panel {
	case XfcePanel:
		need = append(need, XfcePanel, xfconfService)
	case LXQtPanel:
		need = append(need, LXQtPanel)
	}
	var missing []string
	for _, program := range need {
		if !installed(program) {
			missing = append(missing, packages[program])
		}
	}
	slices.Sort(missing)
	return missing
}

func installed(program string) bool {
	if strings.HasPrefix(program, "/") {
		_, err := os.Stat(program)
		return err == nil
	}
	_, err := exec.LookPath(program)
	return err == nil
}

// Require skips the test when the programs for o are not installed, naming the
// packages; where CI=true it fails instead, so that no run passes by skipping.
func Require(tb TB, o Options) {
	tb.Helper()
	why := ""
	if runtime.GOOS != "linux" {
		why = "a virtual desktop needs Linux"
	} else if missing := Missing(o); len(missing) > 0 {
		why = "not installed: apt-get install " + strings.Join(missing, " ")
	}
	switch {
	case why == "":
	case os.Getenv("CI") == "true":
		tb.Fatalf("%s", why)
	default:
		tb.Skipf("%s", why)
	}
}
