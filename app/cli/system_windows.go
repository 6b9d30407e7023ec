package cli

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// systemVersion returns the version of Windows, whether this process has the rights of an administrator, and the code page of the console.
func systemVersion() string {
	v := windows.RtlGetVersion()
	page, _ := windows.GetConsoleOutputCP() // no console: 0
	elevated := ifelse(windows.GetCurrentProcessToken().IsElevated(), "administrator", "no administrator")
	return fmt.Sprintf("%d.%d.%d, %s, code page %d", v.MajorVersion, v.MinorVersion, v.BuildNumber, elevated, page)
}
