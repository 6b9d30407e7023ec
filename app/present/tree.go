package present

import (
	"fmt"
	"strings"

	"rollcall/proc"
)

// Tree returns a line for root and one for each of its descendants, indented below the parent.
func Tree(root proc.Process, below []proc.Process) []string {
	children := map[int][]proc.Process{}
	for _, p := range below {
		children[p.PPID] = append(children[p.PPID], p)
	}
	var lines []string
	var add func(p proc.Process, depth int)
	add = func(p proc.Process, depth int) {
		lines = append(lines, strings.Repeat("  ", depth)+fmt.Sprintf("%d %s", p.PID, Line(p.Comm)))
		for _, c := range children[p.PID] {
			add(c, depth+1)
		}
	}
	add(root, 0)
	return lines
}
