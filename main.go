// Rollcall shows which coding agents on a machine work, which wait for the user and
// which are done.
package main

import (
	"os"

	"rollcall/app/program"
)

// version is set by the linker: -ldflags "-X main.version=0.1.0".
var version = ""

func main() { os.Exit(run()) }

func run() int { return program.Run(version, build, addDesktop) }
