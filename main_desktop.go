//go:build !headless

package main

import "rollcall/app/desktop"

const build = "desktop"

// addDesktop adds the tray and the window to the command line.
var addDesktop = desktop.Add
