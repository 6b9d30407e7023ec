package proc

import (
	"errors"
	"slices"
	"testing"
	"unsafe"
)

func TestReadHolders(t *testing.T) {
	if unsafe.Sizeof(rmProcess{}) != 668 { // sizeof RM_PROCESS_INFO
		t.Errorf("a process has %d bytes", unsafe.Sizeof(rmProcess{}))
	}
	self, codex := Identity{PID: 7, Start: 5<<32 | 6}, Identity{PID: 8, Start: 9<<32 | 1<<31}
	row := func(id Identity) rmProcess {
		return rmProcess{pid: uint32(id.PID), startLow: uint32(id.Start), startHigh: uint32(id.Start >> 32)}
	}
	rows := func(ids ...Identity) func([]rmProcess) (int, error) {
		return func(list []rmProcess) (int, error) {
			if len(ids) > len(list) {
				return len(ids), errMoreHolders
			}
			for i, id := range ids {
				list[i] = row(id)
			}
			return len(ids), nil
		}
	}
	denied := errors.New("denied")
	many := append(slices.Repeat([]Identity{codex}, 30), self)
	for name, tt := range map[string]struct {
		get  func([]rmProcess) (int, error)
		want []Identity
		err  error
	}{
		"this process alone": {rows(self), nil, nil},
		"another one":        {rows(codex, self), []Identity{codex}, nil},
		"more than fit":      {rows(many...), many[:30], nil},
		"no answer":          {rows(), nil, errNotAmongThem}, // Wine 8
		"another's pid":      {rows(Identity{PID: 7, Start: 1}), nil, errNotAmongThem},
		"denied":             {func([]rmProcess) (int, error) { return 0, denied }, nil, denied},
		"more each time":     {func(list []rmProcess) (int, error) { return len(list) + 1, errMoreHolders }, nil, errHoldersChange},
	} {
		got, err := readHolders(self, tt.get)
		if !slices.Equal(got, tt.want) || !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
