package instance

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"rollcall/app/store"
	"rollcall/internal/must"
)

// pipeOf returns the name of the pipe that clients of the window use.
func pipeOf(t *testing.T, dir string) string {
	t.Helper()
	var file pipeFile
	must.Do(t, store.In(dir).Read(pipeFileName(Window), &file))
	return pipePath(Window, file.Random)
}

// own returns the user and the integrity level of this process.
func own(t *testing.T) (*windows.SID, uint32) {
	t.Helper()
	user := must.Get(ownUser())(t)
	level := must.Get(ownIntegrity())(t)
	return user, level
}

// openPipe opens a pipe, and accepts connections to it until the end of the test.
func openPipe(t *testing.T, path, descriptor string) error {
	t.Helper()
	l, err := listenAt(path, descriptor)
	if err != nil {
		return err
	}
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-accepted })
	return nil
}

// TestTakenPipe: whoever holds the name of an earlier pipe keeps no later claim from listening, and gets no message.
func TestTakenPipe(t *testing.T) {
	dir := filepath.Join(home(t), "rollcall")
	i := must.Get(Claim(Window, slog.Default()))(t)
	earlier := pipeOf(t, dir)
	must.Do(t, i.Close())
	user, level := own(t)
	must.Do(t, openPipe(t, earlier, descriptor(user, level)))
	claimNow(t)
	if now := pipeOf(t, dir); now == earlier {
		t.Errorf("two claims had the same pipe: %s", now)
	}
}

// TestPipeOfAnotherUser: a pipe that does not belong to this user is refused, though this process made it.
func TestPipeOfAnotherUser(t *testing.T) {
	dir := home(t)
	user, level := own(t)
	for _, tt := range []struct {
		owner string
		taken bool
	}{{user.String(), true}, {"BA", false}} {
		file := pipeFile{Random: store.NewID("", randomSize)}
		must.Do(t, store.In(dir).Write(pipeFileName(Window), file))
		text := strings.Replace(descriptor(user, level), "O:"+user.String(), "O:"+tt.owner, 1)
		err := openPipe(t, pipePath(Window, file.Random), text)
		if errors.Is(err, windows.ERROR_INVALID_OWNER) {
			t.Skipf("only administrators may make pipes that belong to %s", tt.owner)
		} else if err != nil {
			t.Fatal(err)
		}
		conn, err := connect(dir, Window, time.Now().Add(5*time.Second))
		if err == nil {
			_ = conn.Close()
		}
		if (err == nil) != tt.taken {
			t.Errorf("a pipe of %s: %v", tt.owner, err)
		}
	}
}

// TestElevatedPipe: the pipe of a process with administrator rights has a label that keeps out those without.
func TestElevatedPipe(t *testing.T) {
	user, level := own(t)
	const label = "S:(ML;;NWNRNX;;;HI)"
	for _, tt := range []struct {
		level uint32
		want  bool
	}{{0x1000, false}, {0x2000, false}, {0x2100, false}, {highIntegrity, true}, {0x4000, true}} {
		text := descriptor(user, tt.level)
		if got := strings.Contains(text, label); got != tt.want {
			t.Errorf("level %#x: %s", tt.level, text)
		}
		if _, err := windows.SecurityDescriptorFromString(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		refused := refusal(windows.ERROR_ACCESS_DENIED, tt.level)
		if errors.Is(refused, ErrElevated) == tt.want {
			t.Errorf("level %#x: refused with %v", tt.level, refused)
		}
		if err := refusal(windows.ERROR_FILE_NOT_FOUND, tt.level); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("level %#x: %v", tt.level, err)
		}
	}
	t.Logf("this process has level %#x", level)
	dir := filepath.Join(home(t), "rollcall")
	i := must.Get(Claim(Window, slog.Default()))(t)
	defer func() { _ = i.Close() }()
	conn := must.Get(connect(dir, Window, time.Now().Add(5*time.Second)))(t)
	defer func() { _ = conn.Close() }()
	sd := must.Get(windows.GetSecurityInfo(windows.Handle(conn.(pipeConn).Fd()), windows.SE_KERNEL_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION|windows.LABEL_SECURITY_INFORMATION))(t)
	t.Logf("its pipe has %s", sd)
}

// TestPipeFileIsMissingOrDamaged: without the name of the pipe the error names the file. The next claim replaces it.
func TestPipeFileIsMissingOrDamaged(t *testing.T) {
	dir := filepath.Join(home(t), "rollcall")
	if _, err := makePrivate(dir); err != nil {
		t.Fatal(err)
	}
	path := store.In(dir).File(pipeFileName(Window))
	for _, content := range []string{"", "{", `{"random":""}`, `{"random":"\\..\\tray"}`, `{"random":"00"}`} {
		if content != "" {
			must.Do(t, os.WriteFile(path, []byte(content), 0o600))
		}
		conn, err := connect(dir, Window, time.Now().Add(5*time.Second))
		if err == nil {
			_ = conn.Close()
		}
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", content, err)
		}
	}
	claimNow(t)
}
