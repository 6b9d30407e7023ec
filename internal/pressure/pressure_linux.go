package pressure

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sample is the kernel's count at a time.
type sample struct {
	at      time.Time
	stalled time.Duration
}

// samples has one sample each interval, for the last minutes.
var samples struct {
	once sync.Once
	mu   sync.Mutex
	list []sample
}

const (
	interval = 50 * time.Millisecond
	kept     = 6000
)

// Watch starts to sample the pressure. It may be called more than once.
func Watch() {
	samples.once.Do(func() {
		go func() {
			for ; ; time.Sleep(interval) {
				s := sample{time.Now(), read()}
				samples.mu.Lock()
				samples.list = append(samples.list, s)
				if len(samples.list) > 2*kept {
					samples.list = append([]sample(nil), samples.list[kept:]...)
				}
				samples.mu.Unlock()
			}
		}()
	})
}

// StalledSince returns for how long programs of this machine had to wait since a time after Watch. It is at most the time
// since then, and 0 on a kernel without /proc/pressure.
func StalledSince(t time.Time) time.Duration {
	now := read()
	samples.mu.Lock()
	defer samples.mu.Unlock()
	stalled := time.Duration(0)
	for _, s := range samples.list {
		if s.at.After(t) {
			break
		}
		stalled = now - s.stalled
	}
	return min(stalled, time.Since(t))
}

// read returns the time that programs have lost by waiting for a processor and for storage.
func read() (total time.Duration) {
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
