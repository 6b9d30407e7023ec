package cli

// stopSelf returns false: Windows suspends no program for its terminal.
func stopSelf() bool { return false }
