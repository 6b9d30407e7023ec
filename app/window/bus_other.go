//go:build !headless && !(unix && !darwin)

package window

func keepBusAsItIs() {}
