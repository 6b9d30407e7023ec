package eventually_test

import (
	"errors"
	"testing"

	"rollcall/internal/eventually"
)

func TestWaitsForWhatHappensLater(t *testing.T) {
	begun := make(chan struct{})
	done := make(chan struct{})
	go func() { <-begun; close(done) }()
	looks := 0
	eventually.True(t, "the other goroutine", func() bool {
		looks++
		if looks == 2 {
			close(begun)
		}
		select {
		case <-done:
			return looks > 2
		default:
			return false
		}
	})
	tries := 0
	eventually.Nil(t, "the third try", func() error {
		if tries++; tries < 3 {
			return errors.New("too early")
		}
		return nil
	})
	if tries != 3 || looks < 3 {
		t.Errorf("%d tries, %d looks", tries, looks)
	}
}
