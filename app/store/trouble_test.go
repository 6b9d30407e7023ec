package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestPause(t *testing.T) {
	var p Pause
	now := time.Now()
	if p.Left(now) != 0 {
		t.Error("there is a pause without a failure")
	}
	var got []string
	for range 8 {
		p.Failed(now)
		got = append(got, p.Left(now).String())
		now = now.Add(p.Left(now))
		if p.Left(now) != 0 {
			t.Error("the pause does not end")
		}
	}
	if s := strings.Join(got, " "); s != "1s 2s 4s 8s 16s 32s 1m0s 1m0s" {
		t.Errorf("pauses after 8 failures: %s", s)
	}
	if left := p.Left(now.Add(-time.Hour)); left > LastPause {
		t.Errorf("after the clock was set back, the pause is %s long; at most %s", left, LastPause)
	}
	p.Succeeded()
	p.Failed(now)
	if p.Left(now) != FirstPause {
		t.Errorf("the first pause after a success is %s, want %s", p.Left(now), FirstPause)
	}
}

// TestOneLineACauseAndMinute checks that each cause is logged at most once a minute, however many files it concerns.
func TestOneLineACauseAndMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var shown []string
		b := NewFailures(slog.New(slog.NewTextHandler(&log, nil)), func(s []string) { shown = s })
		noSpace, readOnly := syscall.ENOSPC, syscall.EROFS
		if runtime.GOOS == "windows" {
			noSpace, readOnly = syscall.Errno(112), syscall.Errno(19) // ERROR_DISK_FULL, ERROR_WRITE_PROTECT
		}
		full := func(i int) error { return fmt.Errorf("write /x/%d.json: %w", i, noSpace) }
		for i := range 1000 {
			b.Failed("timers", "timers could not be kept", full(i))
			b.Failed("launches", "launches could not be kept", errors.Join(full(i), full(i+1)))
		}
		if n := strings.Count(log.String(), "\n"); n != 1 {
			t.Errorf("%d lines in the first minute:\n%s", n, log.String())
		}
		if s := strings.Join(shown, "; "); s != "disk full: launches can't be kept; disk full: timers can't be kept" {
			t.Errorf("shown troubles: %s", s)
		}
		time.Sleep(time.Minute)
		b.Failed("timers", "timers could not be kept", full(1))
		b.Failed("timers", "timers could not be kept", readOnly)
		if n := strings.Count(log.String(), "\n"); n != 3 {
			t.Errorf("%d lines, want one more for the old cause and one for the new:\n%s", n, log.String())
		}
		b.Succeeded("launches")
		if s := strings.Join(shown, "; "); s != "disk read-only: timers can't be kept" {
			t.Errorf("shown troubles after the launches' success: %s", s)
		}
		b.Succeeded("timers")
		if len(shown) != 0 {
			t.Errorf("troubles that are over are still shown: %q", shown)
		}
	})
}

// TestLoopPauses checks that signals do not shorten the pauses after a failed write, which grow to a minute.
func TestLoopPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		changes := make(chan struct{}, 1)
		calls := 0
		b := NewFailures(slog.New(slog.DiscardHandler), nil)
		var signals sync.WaitGroup
		signals.Go(func() {
			for ctx.Err() == nil {
				select {
				case changes <- struct{}{}:
				default:
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
		b.Loop(ctx, Task{Part: "timers", Changes: changes, Do: func(context.Context) (time.Duration, error) {
			calls++
			return time.Millisecond, ErrNotWritten
		}})
		signals.Wait()
		// After 1, 2, 4, … 32 s and then every minute.
		if calls < 60 || calls > 70 {
			t.Errorf("%d calls in an hour, want 65", calls)
		}
	})
}

// TestLoopCalls checks that Loop calls the work at once, when it is due, and at each signal, and reports other errors.
func TestLoopCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var shown atomic.Value
		b := NewFailures(slog.New(slog.DiscardHandler), func(s []string) { shown.Store(strings.Join(s, "; ")) })
		begun := time.Now()
		wake := make(chan struct{})
		done := make(chan struct{})
		var at []time.Duration
		results := []struct {
			again time.Duration
			err   error
		}{{10 * time.Second, nil}, {0, errors.New("damaged")}, {0, nil}, {0, nil}}
		go func() {
			defer close(done)
			b.Loop(ctx, Task{Part: "timers", Wake: wake, Do: func(context.Context) (time.Duration, error) {
				at = append(at, time.Since(begun))
				r := results[len(at)-1]
				return r.again, r.err
			}})
		}()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if s := shown.Load(); s != "damaged: timers can't be kept" {
			t.Errorf("shown after an error: %q", s)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := shown.Load(); s != "" {
			t.Errorf("shown after a success: %q", s)
		}
		wake <- struct{}{}
		synctest.Wait()
		cancel()
		<-done
		want := []time.Duration{0, 10 * time.Second, 10*time.Second + LastPause, time.Hour + 20*time.Second}
		if !slices.Equal(at, want) {
			t.Errorf("called at %v, want %v", at, want)
		}
	})
}
