//go:build linux

// Command shot writes what an X display shows as PNG: shot FILE. The display is that of DISPLAY.
package main

import (
	"fmt"
	"os"

	"rollcall/internal/desktoptest"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: shot FILE")
		os.Exit(2)
	}
	if err := desktoptest.ScreenshotDisplay(os.Getenv("DISPLAY"), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "shot:", err)
		os.Exit(1)
	}
}
