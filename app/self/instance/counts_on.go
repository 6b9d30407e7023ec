//go:build faults

package instance

import (
	"encoding/json"
	"runtime"
	"strings"
)

// countsFor returns what the process uses, as a line of JSON, for the message "counts",
// and the stacks of its goroutines for the message "stacks". It returns nil for every
// other message.
func countsFor(line []byte) []byte {
	switch strings.TrimSpace(string(line)) {
	case "counts":
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		text, _ := json.Marshal(map[string]uint64{"goroutines": uint64(runtime.NumGoroutine()), "heap": m.HeapAlloc})
		return append(text, '\n')
	case "stacks":
		stacks := make([]byte, 1<<20)
		return stacks[:runtime.Stack(stacks, true)]
	}
	return nil
}
