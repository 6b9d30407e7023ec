package present

import (
	"slices"
	"testing"

	"rollcall/proc"
)

func TestTree(t *testing.T) {
	of := func(pid, parent int, comm string) proc.Process {
		return proc.Process{Identity: proc.Identity{PID: pid}, PPID: parent, Comm: comm}
	}
	got := Tree(of(1, 0, "agent"), []proc.Process{of(2, 1, "sh"), of(4, 1, "a\x1b[1mb"), of(3, 2, "make")},
		map[proc.Identity]string{{PID: 2}: CommandLine([]string{"sh", "-c", "make all", "\x1b[1m"})})
	if want := []string{"1 agent", `  2 sh: sh -c "make all" ""`, "    3 make", "  4 ab"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var many []proc.Process
	for pid := 2; pid <= 100; pid++ {
		many = append(many, of(pid, 1, "sh"))
	}
	if got := Tree(of(1, 0, "agent"), many, nil); len(got) != 100 {
		t.Errorf("%d of 100 processes are shown", len(got))
	}
}
