package app

import (
	"os"
	"path/filepath"
	"strings"
)

func onBattery() bool { return onBatteryAt("/sys/class/power_supply") }

// onBatteryAt reports whether the machine runs on its battery, by the kernel's power
// supplies: no external supply is online, and a battery of the machine itself, not of a
// mouse (scope Device), discharges.
func onBatteryAt(dir string) bool {
	supplies, _ := os.ReadDir(dir)
	discharges := false
	for _, s := range supplies {
		read := func(name string) string {
			text, _ := os.ReadFile(filepath.Join(dir, s.Name(), name))
			return strings.TrimSpace(string(text))
		}
		switch read("type") {
		case "Mains", "USB", "Wireless":
			if read("online") == "1" {
				return false
			}
		case "Battery":
			discharges = discharges || read("scope") != "Device" && read("status") == "Discharging"
		}
	}
	return discharges
}
