package app

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var getSystemPowerStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetSystemPowerStatus")

// systemPowerStatus is SYSTEM_POWER_STATUS.
type systemPowerStatus struct {
	line, flag, percent, saver byte
	lifetime, fullLifetime     uint32
}

// onBattery reports whether the power line is off line (0); 1 is on line, 255 is not
// known.
func onBattery() bool {
	var s systemPowerStatus
	ok, _, _ := getSystemPowerStatus.Call(uintptr(unsafe.Pointer(&s)))
	return ok != 0 && s.line == 0
}
