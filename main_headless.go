//go:build headless

package main

import "rollcall/app/cli"

const build = "headless"

// desktop has nothing to add: this build has neither tray nor window.
func desktop(*cli.Deps) {}
