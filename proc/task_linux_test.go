package proc

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

func init() { roles["threads"] = writeAndThread }

// writeAndThread is a child that, for each line of its input, writes 5000 bytes
// to a file, opens a socket and keeps one thread more.
func writeAndThread() error {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(socket)
		if _, err := f.WriteString(strings.Repeat("x", 5000)); err != nil {
			return err
		}
		locked := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(locked)
			select {}
		}()
		<-locked
		fmt.Println("written")
	}
	return lines.Err()
}

func TestThreadsAndWritten(t *testing.T) {
	c := start(t, "threads", nil)
	table := Open()
	p := must.Get(table.Find(c.Process.Pid))(t)
	before := must.Get(table.Written(p.Identity))(t)
	if _, err := fmt.Fprintln(c.input, "more"); err != nil {
		t.Fatal(err)
	}
	c.line(t)
	if n, err := table.Sockets(p.Identity); err != nil || n != 1 {
		t.Errorf("%d sockets, %v; want 1", n, err)
	}
	after, err := table.Written(p.Identity)
	if err != nil || after-before < 5000 || after-before > 10_000 {
		t.Errorf("wrote %d bytes more, %v; want 5000 and a line", after-before, err)
	}
	threads, err := table.Threads(p.Identity)
	if err != nil || len(threads) < 2 {
		t.Fatalf("threads: %v, %v", threads, err)
	}
	for i, at := range threads {
		if at.Before(p.Started) || at.After(time.Now().Add(time.Second)) || i > 0 && at.Before(threads[i-1]) {
			t.Errorf("thread %d started %v; the process %v", i, threads, p.Started)
		}
	}
	other := p.Identity
	other.Start++
	if _, err := table.Threads(other); !errors.Is(err, ErrGone) {
		t.Errorf("threads of another process: %v", err)
	}
	if _, err := table.Written(other); !errors.Is(err, ErrGone) {
		t.Errorf("bytes of another process: %v", err)
	}
}
