package adaptertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// defaultHome is what home/ stood for where processes.json doesn't say.
const defaultHome = "/home/dev"

// processesFile is processes.json.
type processesFile struct {
	BootTime   int64          `json:"boot_time"`
	ClockTicks int            `json:"clk_tck"`
	CapturedAt float64        `json:"captured_at"`
	Home       string         `json:"home"`
	Locks      map[string]int `json:"flocks"`
	Processes  []process      `json:"processes"`
}

// process is one process of processes.json.
type process struct {
	PID   int               `json:"pid"`
	PPID  int               `json:"ppid"`
	PGID  int               `json:"pgid"`
	SID   int               `json:"sid"`
	State string            `json:"state"`
	Start uint64            `json:"start_ticks"`
	Comm  string            `json:"comm"`
	Exe   string            `json:"exe"`
	CWD   string            `json:"cwd"`
	Args  []string          `json:"args"`
	Files []string          `json:"fds"`
	Env   map[string]string `json:"env"`
	TTY   string            `json:"tty"`
}

// readJSON decodes a file of a recording strictly: a key that no test asserts is
// a mistake in this package.
func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatalf("recording: %v", err)
	}
	defer f.Close()
	decoder := json.NewDecoder(f)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("recording: %s: %v", path, err)
	}
}

// readRecording reads the JSON files of a recording.
func readRecording(t testing.TB, dir string) (processesFile, map[string]float64, Expectation) {
	t.Helper()
	var processes processesFile
	var mtimes map[string]float64
	var expect Expectation
	readJSON(t, filepath.Join(dir, "processes.json"), &processes)
	readJSON(t, filepath.Join(dir, "mtimes.json"), &mtimes)
	readJSON(t, filepath.Join(dir, "expect.json"), &expect)
	if processes.Home == "" {
		processes.Home = defaultHome
	}
	if processes.ClockTicks != 100 {
		t.Fatalf("recording: %s: clk_tck is %d, want 100", dir, processes.ClockTicks)
	}
	expect.starts = make(map[int]uint64)
	for _, p := range processes.Processes {
		expect.starts[p.PID] = p.Start
	}
	return processes, mtimes, expect
}

// unixTime makes a time of seconds with a fraction, exact to the microsecond.
func unixTime(seconds float64) time.Time {
	return time.UnixMicro(int64(seconds*1e6 + 0.5))
}
