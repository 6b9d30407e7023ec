package fuse

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rollcall/app/store"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
)

// TestFullDisk checks that a fuse that is due waits while the disk is full, logs one line, and fires once when there is
// space again. TestLoopPauses of the package trouble checks how often the keeper tries.
func TestFullDisk(t *testing.T) {
	disk := testfs.NewDisk(t)
	b := newBench(t)
	b.folder = store.Below(disk.Path, "fuses")
	var shown atomic.Value
	shown.Store("")
	log := &eventually.Output{}
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	b.set(Fuse{Path: dir, Script: "echo fired >> " + out}, time.Hour)
	disk.Fill(t)
	b.later(2 * time.Hour)

	k := NewKeeper(b.Fuses, slog.New(slog.NewTextHandler(log, nil)), nil)
	k.Troubles = store.NewFailures(k.log, func(list []string) { shown.Store(strings.Join(list, "; ")) })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- k.RunUntil(ctx, ctx) }()
	eventually.True(b.t, "the trouble", func() bool { return shown.Load() == "disk full: timers can't be kept" })
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines were logged, want 1", n)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("the fuse fired although that could not be stored")
	}
	disk.Free(t)
	eventually.True(b.t, "its result", func() bool { list, _ := b.List(); return len(list) == 1 && list[0].Finished() })
	if said, err := os.ReadFile(out); string(said) != "fired\n" {
		t.Errorf("the script wrote %q, %v; want one line", said, err)
	}
	cancel()
	if err := <-done; err != nil || shown.Load() != "" {
		t.Errorf("%v, the trouble %q is still shown", err, shown.Load())
	}
}

// TestKeeperKilledWhileTheScriptBegins checks that a fuse whose keeper is killed while the script starts has an unknown
// result, and fires again only if the user asked for that.
func TestKeeperKilledWhileTheScriptBegins(t *testing.T) {
	for _, again := range []bool{false, true} {
		b := newBench(t)
		dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
		b.set(Fuse{Path: dir, Again: again, Script: "echo begun >> " + out + "; while [ -e " + out + " ] && [ ! -e " + out + ".free ]; do sleep 0.05; done"}, time.Millisecond)
		keeper := exec.Command(os.Args[0])
		keeper.Env = append(os.Environ(), stateVariable+"="+b.Folder())
		must.Do(t, keeper.Start())
		begun := func() int {
			text, _ := os.ReadFile(out)
			return strings.Count(string(text), "begun")
		}
		eventually.True(b.t, "the script to begin", func() bool { return begun() == 1 })
		if x := b.only(); !x.Fired() || x.Finished() || x.ResultUnknown() {
			t.Errorf("while the script runs, the fuse is %+v", x)
		}
		if _, err := b.Retry(t.Context(), dir); !errors.Is(err, ErrRunning) {
			t.Errorf("a retry while the script runs: %v, want ErrRunning", err)
		}
		_ = keeper.Process.Kill()
		_ = keeper.Wait()
		if x := b.only(); !x.ResultUnknown() {
			t.Errorf("after the keeper was killed, the fuse is %+v", x)
		}
		must.Do(t, os.WriteFile(out+".free", nil, 0o600))
		fired := make(chan Fuse, 10)
		b.keep(func(x Fuse) { fired <- x })
		if !again {
			other := t.TempDir()
			b.set(Fuse{Path: other}, time.Millisecond)
			if x := <-fired; x.Path == dir || begun() != 1 {
				t.Errorf("the fuse fired twice: %+v", x)
			}
			if _, err := b.Cancel(t.Context(), other); !errors.Is(err, ErrNone) {
				t.Fatal(err)
			}
			if _, err := b.Retry(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
		}
		if x := <-fired; x.Results[0] != "script: exit 0" || begun() != 2 {
			t.Errorf("%+v; the script started %d times, want 2", x, begun())
		}
	}
}
