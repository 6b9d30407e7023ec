package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rollcall/internal/must"
	"rollcall/internal/pressure"
)

// eachEvent are settings with which the tray tells of each event by itself: the oracle counts them. A session gives no sign of life soon.
const eachEvent = "headless = \"show\"\nstalled_after = \"20s\"\n[notifications]\nreply = \"off\"\ntogether = \"0s\"\npause = \"0s\"\n"

const (
	damagedSettings = "settings "
	muteAll         = "mute all folders"
	muting          = damagedSettings + muteAll
)

// obeyed is after how long a change of the settings must be obeyed.
const obeyed = 3 * time.Second

// settings has the user forbid some notifications, and allow them again: what is forbidden is not told, and may be told
// when it is allowed again.
func (t *harness) settings() *damage {
	if !t.trayUp {
		return nil
	}
	kinds := []struct{ name, config, of string }{
		{"waits off", "permission = \"off\"\nquestion = \"off\"\n", "waits"},
		{"ends off", "ended = \"off\"\nfailed = \"off\"\nlimit = \"off\"\n", "ends"},
		{"do not disturb", "", "waits ends"},
		{muteAll, fmt.Sprintf("mute = [%q]\n", t.script.world.Path("work")), "waits ends"},
	}
	k := kinds[t.script.rng.IntN(len(kinds))]
	return &damage{damagedSettings + k.name, nil,
		func() { t.hear(); t.configure(k.config, true); t.hear(); t.forbidden, t.obeyedFrom = k.of, time.Now() },
		func() { t.excuse(); t.configure(k.config, false); t.forbidden = "" }}
}

// configure makes a change of the settings, or takes it back, as the user does: in the file, or by a command.
func (t *harness) configure(config string, on bool) {
	t.Helper()
	switch {
	case config == "" && on:
		t.rollcall.command("dnd", "on", "--for", "1h")
	case config == "":
		t.rollcall.command("dnd", "off")
	case on:
		t.rollcall.configure(eachEvent + config)
	default:
		t.rollcall.configure(eachEvent)
	}
	begun := time.Now()
	for time.Since(begun) < obeyed+min(pressure.StalledSince(begun), mostStalled) {
		time.Sleep(100 * time.Millisecond)
	}
}

// forbids reports whether the settings forbid to tell waits, or ends, of x. A muted folder is one of this machine.
func (t *harness) forbids(kind string, x *life) bool {
	return strings.Contains(t.forbidden, kind) && (!x.Remote || t.doing != muting)
}

// excuse owes nothing of what happened while it was forbidden.
func (t *harness) excuse() {
	t.hear()
	for _, x := range append(t.script.lives(), t.forgotten...) {
		if t.forbids("ends", x) {
			x.ends.due = min(x.ends.due, x.ends.told)
		}
		if t.forbids("waits", x) && !x.asked.IsZero() {
			x.waits.may++ // it may be told now, or never
			x.excused = true
		}
	}
}

// configure replaces the settings, as an editor does.
func (r *rollcall) configure(text string) {
	r.t.Helper()
	path := filepath.Join(r.home, ".config", "rollcall", "config.toml")
	must.Do(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(r.t, os.WriteFile(path+".new", []byte(text), 0o600))
	must.Do(r.t, os.Rename(path+".new", path))
}
