package keep

import "rollcall/proc"

// umask returns -1: Windows has none.
func umask() int { return -1 }

func startWithUmask(c proc.Command, _ int) (*proc.Child, error) { return proc.Start(c) }
