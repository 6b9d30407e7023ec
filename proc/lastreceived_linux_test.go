package proc

import (
	"errors"
	"net"
	"os/exec"
	"testing"
	"time"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// TestLastReceived: a process received data last when the other end of its connection sent some, whether it read it or not.
func TestLastReceived(t *testing.T) {
	table := ownTable(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	if err := askSockets(stateListen, 0, 0, func(*diagSocket, []byte) {}); err != nil {
		t.Skip(err)
	}
	client, err := net.Dial("tcp", listener.Addr().String())
	must.Do(t, err)
	server, err := listener.Accept()
	must.Do(t, err)
	file, err := client.(*net.TCPConn).File()
	must.Do(t, err)
	waits := exec.Command("sleep", "1000")
	waits.ExtraFiles = append(waits.ExtraFiles, file)
	must.Do(t, waits.Start())
	t.Cleanup(func() {
		_ = waits.Process.Kill()
		_ = waits.Wait()
		_ = server.Close()
		_ = client.Close()
	})
	p, err := table.Find(waits.Process.Pid)
	must.Do(t, err)
	received := func() time.Time {
		at, err := table.LastReceived(p.Identity)
		must.Do(t, err)
		return at
	}
	eventually.True(t, "silence", func() bool { return !received().IsZero() && time.Since(received()) > 300*time.Millisecond })
	before := received()
	_, err = server.Write([]byte("x"))
	must.Do(t, err)
	eventually.True(t, "data", func() bool { return received().Sub(before) > 200*time.Millisecond })

	without := exec.Command("sleep", "1000")
	must.Do(t, without.Start())
	t.Cleanup(func() {
		_ = without.Process.Kill()
		_ = without.Wait()
	})
	q, err := table.Find(without.Process.Pid)
	must.Do(t, err)
	if at, err := table.LastReceived(q.Identity); err != nil || !at.IsZero() {
		t.Errorf("without a connection: %v, %v", at, err)
	}
	if _, err := table.LastReceived(Identity{PID: q.PID, Start: q.Start + 1, Boot: q.Boot}); !errors.Is(err, ErrGone) {
		t.Errorf("another process with its pid: %v", err)
	}
}
