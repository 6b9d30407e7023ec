package app

import (
	"os"
	"path/filepath"
	"testing"

	"rollcall/internal/must"
)

// TestOnBattery: the forms that the kernel's power supplies take.
func TestOnBattery(t *testing.T) {
	type supply map[string]string
	mains := func(online string) supply { return supply{"type": "Mains", "online": online} }
	cell := func(status string) supply { return supply{"type": "Battery", "status": status} }
	mouse := supply{"type": "Battery", "status": "Discharging", "scope": "Device"}
	for name, c := range map[string]struct {
		supplies map[string]supply
		want     bool
	}{
		"a desktop":                         {nil, false},
		"a desktop with a cordless mouse":   {map[string]supply{"hidpp": mouse}, false},
		"a laptop on its battery":           {map[string]supply{"AC": mains("0"), "BAT0": cell("Discharging")}, true},
		"a laptop that charges":             {map[string]supply{"AC": mains("1"), "BAT0": cell("Charging")}, false},
		"plugged in, not enough power":      {map[string]supply{"AC": mains("1"), "BAT0": cell("Discharging")}, false},
		"plugged in by USB":                 {map[string]supply{"ucsi": {"type": "USB", "online": "1"}, "BAT0": cell("Discharging")}, false},
		"two batteries, one of them in use": {map[string]supply{"AC": mains("0"), "BAT0": cell("Unknown"), "BAT1": cell("Discharging")}, true},
		"no supply from outside is known":   {map[string]supply{"BAT0": cell("Full")}, false},
	} {
		dir := t.TempDir()
		for supply, files := range c.supplies {
			must.Do(t, os.Mkdir(filepath.Join(dir, supply), 0o700))
			for file, text := range files {
				must.Do(t, os.WriteFile(filepath.Join(dir, supply, file), []byte(text+"\n"), 0o600))
			}
		}
		if got := onBatteryAt(dir); got != c.want {
			t.Errorf("%s: on battery is %v", name, got)
		}
	}
	if onBatteryAt(filepath.Join(t.TempDir(), "none")) {
		t.Error("without power supplies it is on battery")
	}
}
