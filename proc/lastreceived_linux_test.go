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
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	if err := askSockets(stateListen, 0, 0, func(*diagSocket, []byte) {}); err != nil {
		t.Skip(err)
	}
	client := must.Get(net.Dial("tcp", listener.Addr().String()))(t)
	server := must.Get(listener.Accept())(t)
	file := must.Get(client.(*net.TCPConn).File())(t)
	waits := exec.Command("sleep", "1000")
	waits.ExtraFiles = append(waits.ExtraFiles, file)
	must.Do(t, waits.Start())
	t.Cleanup(func() {
		_ = waits.Process.Kill()
		_ = waits.Wait()
		_ = server.Close()
		_ = client.Close()
	})
	p := must.Get(table.Find(waits.Process.Pid))(t)
	received := func() time.Time {
		at := must.Get(table.LastReceived(p.Identity))(t)
		return at
	}
	eventually.True(t, "silence", func() bool { return !received().IsZero() && time.Since(received()) > 300*time.Millisecond })
	before := received()
	must.Get(server.Write([]byte("x")))(t)
	eventually.True(t, "data", func() bool { return received().Sub(before) > 200*time.Millisecond })

	without := exec.Command("sleep", "1000")
	must.Do(t, without.Start())
	t.Cleanup(func() {
		_ = without.Process.Kill()
		_ = without.Wait()
	})
	q := must.Get(table.Find(without.Process.Pid))(t)
	if at, err := table.LastReceived(q.Identity); err != nil || !at.IsZero() {
		t.Errorf("without a connection: %v, %v", at, err)
	}
	if _, err := table.LastReceived(Identity{PID: q.PID, Start: q.Start + 1, Boot: q.Boot}); !errors.Is(err, ErrGone) {
		t.Errorf("another process with its pid: %v", err)
	}
}
