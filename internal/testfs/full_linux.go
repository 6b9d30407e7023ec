package testfs

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/must"
)

// Disk is a small file system in memory.
type Disk struct{ Path string }

// NewDisk mounts a disk of 256 kB. It needs root; without it the test is skipped.
func NewDisk(t *testing.T) *Disk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a file system can be mounted by root alone")
	}
	d := &Disk{t.TempDir()}
	if err := syscall.Mount("tmpfs", d.Path, "tmpfs", 0, "size=256k,mode=0700"); err != nil {
		t.Skip("nothing can be mounted here: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.Path, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", d.Path, err)
		}
	})
	return d
}

// Fill leaves no space.
func (d *Disk) Fill(t *testing.T) {
	t.Helper()
	f, err := os.Create(d.filling())
	must.Do(t, err)
	defer func() { _ = f.Close() }()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// KeepFull leaves no space, also where files are removed meanwhile, until the function that it returns is called.
func (d *Disk) KeepFull(t *testing.T) (free func()) {
	t.Helper()
	d.Fill(t)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		f, err := os.OpenFile(d.filling(), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = f.Close() }()
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				_, _ = f.Write(make([]byte, 4096))
			}
		}
	}()
	return func() {
		close(stop)
		<-done
		d.Free(t)
	}
}

// Free gives the space back.
func (d *Disk) Free(t *testing.T) {
	t.Helper()
	must.Do(t, os.Remove(d.filling()))
}

func (d *Disk) filling() string { return filepath.Join(d.Path, "filling") }

// ReadOnly makes the disk one that cannot be written to, until the end of the test.
func (d *Disk) ReadOnly(t *testing.T) {
	t.Helper()
	must.Do(t, syscall.Mount("tmpfs", d.Path, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=256k,mode=0700"))
}
