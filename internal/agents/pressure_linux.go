package agents

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A machine that is busy with other things makes every program late. The kernel
// counts for how long programs wanted to run and had to wait (/proc/pressure);
// that much lateness is forgiven, so that limits can be strict elsewhere.

// pressureMark is what the kernel had counted at a moment.
type pressureMark struct {
	at      time.Time
	stalled time.Duration
}

var pressure struct {
	once  sync.Once
	mu    sync.Mutex
	marks []pressureMark // one each 50 ms, for the last minutes
}

const keptMarks = 6000

// watchPressure begins to note the pressure; without /proc/pressure it stays 0.
func watchPressure() {
	pressure.once.Do(func() {
		go func() {
			for {
				mark := pressureMark{time.Now(), readPressure()}
				pressure.mu.Lock()
				pressure.marks = append(pressure.marks, mark)
				if len(pressure.marks) > 2*keptMarks {
					pressure.marks = append([]pressureMark(nil), pressure.marks[keptMarks:]...)
				}
				pressure.mu.Unlock()
				time.Sleep(50 * time.Millisecond)
			}
		}()
	})
}

// stalledSince is for how long programs of this machine had to wait since a
// moment. It is at most the time since then.
func stalledSince(moment time.Time) time.Duration {
	now := readPressure()
	pressure.mu.Lock()
	defer pressure.mu.Unlock()
	stalled := time.Duration(0)
	for _, mark := range pressure.marks {
		if mark.at.After(moment) {
			break
		}
		stalled = now - mark.stalled
	}
	return min(stalled, time.Since(moment))
}

// readPressure adds up the time lost to waiting for a processor and for storage.
func readPressure() time.Duration {
	total := time.Duration(0)
	for _, resource := range []string{"cpu", "io"} {
		text, err := os.ReadFile("/proc/pressure/" + resource)
		if err != nil {
			continue
		}
		some, _, _ := strings.Cut(string(text), "\n") // some avg10=… total=<µs>
		_, count, _ := strings.Cut(some, "total=")
		if us, err := strconv.ParseInt(count, 10, 64); err == nil {
			total += time.Duration(us) * time.Microsecond
		}
	}
	return total
}
