// Package eventually lets a test wait for what another goroutine or process does, without a sleep of its own and without
// a limit that a busy machine reaches.
package eventually

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// Limit is the time after which a wait fails its test. It is for a machine on which other programs take every processor.
const Limit = time.Minute

// pause is the time between two looks.
const pause = 5 * time.Millisecond

// True waits until ok returns true, which it asks on the goroutine of the test. After Limit it ends the test, which
// waited for what.
func True(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !Happens(ok) {
		t.Fatalf("waited %v for %s", Limit, what)
	}
}

// Nil waits until try returns nil. After Limit it ends the test with the last error, which says what is still wrong.
func Nil(t testing.TB, what string, try func() error) {
	t.Helper()
	err := errors.New("never tried")
	if !Happens(func() bool { err = try(); return err == nil }) {
		t.Fatalf("waited %v for %s: %v", Limit, what, err)
	}
}

// Happens waits until ok returns true, and returns false if that is not so after Limit.
func Happens(ok func() bool) bool {
	for end := time.Now().Add(Limit); !ok(); time.Sleep(pause) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Output keeps what is written to it. A test can read it meanwhile.
type Output struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer. It never fails.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns what was written so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
