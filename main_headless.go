//go:build headless && !windows

package main

import "rollcall/app/cli"

const build = "headless"

// addDesktop adds nothing: this build has neither tray nor window.
func addDesktop(*cli.Deps) {}
