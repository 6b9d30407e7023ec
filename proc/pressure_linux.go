package proc

import (
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Pressure implements Lister, from the first line of /proc/pressure/cpu:
// "some avg10=12.34 avg60=… avg300=… total=…", in percent.
func (t *Table) Pressure() float64 {
	var buffer [256]byte
	n, err := readAt(unix.AT_FDCWD, filepath.Join(t.root, "pressure/cpu"), buffer[:])
	if err != nil {
		return 0
	}
	rest, ok := strings.CutPrefix(string(buffer[:n]), "some avg10=")
	number, _, _ := strings.Cut(rest, " ")
	percent, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(percent > 0) {
		return 0
	}
	return min(percent/100, 1)
}
