package instance

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"rollcall/app/store"
	"rollcall/proc"
)

// pipeBuffer is the size in bytes of a pipe's buffers.
const pipeBuffer = 64 << 10

// pipeFile is the content of the file from which clients read the name of a claim's pipe. It is next to the claim's lock.
type pipeFile struct {
	Random string `json:"random"` // random bytes in hexadecimal digits, others at each claim
}

// randomSize is the number of random bytes in the name of a pipe.
const randomSize = 16

// Check implements store.Checker.
func (f *pipeFile) Check(string) error {
	if b, err := hex.DecodeString(f.Random); err != nil || len(b) != randomSize {
		return errors.New("it does not contain the name of a pipe")
	}
	return nil
}

// pipeFileName returns the name of the file of a claim's pipe in the store.
func pipeFileName(name string) string { return "pipe-" + name }

// pipePath returns the name of a claim's pipe. All users of the system share the names of pipes, so another user could
// create a pipe with a predictable name first.
func pipePath(name, random string) string { return `\\.\pipe\rollcall-` + name + "-" + random }

func ownUser() (*windows.SID, error) {
	u, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("read the user of this process: %w", err)
	}
	return u.User.Sid, nil
}

// highIntegrity is the integrity level of processes with administrator rights.
const highIntegrity = 0x3000 // SECURITY_MANDATORY_HIGH_RID

// ownIntegrity returns the integrity level of this process. An elevated process has highIntegrity or more, unless it was
// lowered; Windows does not let it set a higher label than its own level.
func ownIntegrity() (uint32, error) {
	const maxSID = 68 // SECURITY_MAX_SID_SIZE
	buf := make([]byte, unsafe.Sizeof(windows.Tokenmandatorylabel{})+maxSID)
	n := uint32(len(buf))
	if err := windows.GetTokenInformation(windows.GetCurrentProcessToken(), windows.TokenIntegrityLevel, &buf[0], n, &n); err != nil {
		return 0, fmt.Errorf("read the integrity level of this process: %w", err)
	}
	sid := (*windows.Tokenmandatorylabel)(unsafe.Pointer(&buf[0])).Label.Sid
	count := uint32(sid.SubAuthorityCount())
	if count == 0 {
		return 0, errors.New("the integrity level of this process is empty")
	}
	level := sid.SubAuthority(count - 1)
	runtime.KeepAlive(buf)
	return level, nil
}

// descriptor returns the security descriptor of a pipe that a process of this user and integrity level makes: the user
// owns it and has all access, and no other user has any. If the process has administrator rights, processes of the same
// user without them have no access either: they could otherwise have it start programs with its rights.
func descriptor(user *windows.SID, level uint32) string {
	text := "O:" + user.String() + "D:P(A;;GA;;;" + user.String() + ")"
	if level >= highIntegrity {
		text += "S:(ML;;NWNRNX;;;HI)"
	}
	return text
}

// listen opens the pipe of a claim that this process holds, for this user alone, and writes its name to the file that
// clients read. It uses a named pipe because Unix sockets are missing before Windows 10 1803 and under Wine.
func listen(dir, name string) (net.Listener, error) {
	user, err := ownUser()
	if err != nil {
		return nil, err
	}
	level, err := ownIntegrity()
	if err != nil {
		return nil, err
	}
	random := store.NewID("", randomSize)
	l, err := listenAt(pipePath(name, random), descriptor(user, level))
	if err != nil {
		return nil, err
	}
	if err := store.In(dir).Write(pipeFileName(name), pipeFile{Random: random}); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// listenAt opens a pipe with a security descriptor. It fails if another process has a pipe of that name.
func listenAt(path, descriptor string) (*pipeListener, error) {
	sd, err := windows.SecurityDescriptorFromString(descriptor)
	if err != nil {
		return nil, fmt.Errorf("read the access list %s: %w", descriptor, err)
	}
	l := &pipeListener{path: path, access: windows.SecurityAttributes{SecurityDescriptor: sd}}
	l.access.Length = uint32(unsafe.Sizeof(l.access))
	l.closed, err = windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return nil, err
	}
	l.next, err = l.create(windows.FILE_FLAG_FIRST_PIPE_INSTANCE)
	if err != nil {
		_ = windows.CloseHandle(l.closed)
		return nil, fmt.Errorf("open the pipe %s: %w", l.path, err)
	}
	return l, nil
}

// pipeListener accepts connections to a named pipe. Accept must not be called by several goroutines at once.
type pipeListener struct {
	path   string
	access windows.SecurityAttributes
	closed windows.Handle // an event, set by Close

	mu     sync.Mutex     // held by Accept while it waits
	next   windows.Handle // the instance that the next client is connected to; 0: none
	ending sync.Once
}

// create creates an instance of the pipe, which a client can connect to at once.
func (l *pipeListener) create(flag uint32) (windows.Handle, error) {
	path, err := windows.UTF16PtrFromString(l.path)
	if err != nil {
		return 0, err
	}
	return windows.CreateNamedPipe(path, windows.PIPE_ACCESS_DUPLEX|windows.FILE_FLAG_OVERLAPPED|flag,
		windows.PIPE_TYPE_BYTE|windows.PIPE_REJECT_REMOTE_CLIENTS, windows.PIPE_UNLIMITED_INSTANCES, pipeBuffer, pipeBuffer, 0, &l.access)
}

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if state, err := windows.WaitForSingleObject(l.closed, 0); err != nil || state == windows.WAIT_OBJECT_0 {
		return nil, cmp.Or(err, net.ErrClosed)
	}
	if l.next == 0 {
		next, err := l.create(0)
		if err != nil {
			return nil, err
		}
		l.next = next
	}
	if err := l.connected(); err != nil {
		return nil, err
	}
	h := l.next
	l.next, _ = l.create(0) // Accept tries again if this failed
	return pipe(h, l.path), nil
}

// connected waits until a client has connected to the next instance.
func (l *pipeListener) connected() error {
	event, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(event) }()
	call := &windows.Overlapped{HEvent: event}
	switch err := windows.ConnectNamedPipe(l.next, call); {
	case err == nil, errors.Is(err, windows.ERROR_PIPE_CONNECTED):
		return nil
	case !errors.Is(err, windows.ERROR_IO_PENDING):
		l.drop()
		return err
	}
	state, err := windows.WaitForMultipleObjects([]windows.Handle{event, l.closed}, false, windows.INFINITE)
	ended := err == nil && state != windows.WAIT_OBJECT_0
	if err != nil || ended {
		_ = windows.CancelIoEx(l.next, call)
	}
	var n uint32
	if resultErr := windows.GetOverlappedResult(l.next, call, &n, true); err == nil {
		err = resultErr
	}
	if ended {
		err = net.ErrClosed
	}
	if err != nil {
		l.drop()
	}
	return err
}

// drop closes the next instance.
func (l *pipeListener) drop() {
	_ = windows.CloseHandle(l.next)
	l.next = 0
}

// Close implements net.Listener.
func (l *pipeListener) Close() (err error) {
	l.ending.Do(func() {
		err = windows.SetEvent(l.closed)
		l.mu.Lock() // waits until Accept has ended
		defer l.mu.Unlock()
		if l.next != 0 {
			l.drop()
		}
		// The event is not closed, because a later Accept checks it.
	})
	return err
}

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return pipeAddr(l.path) }

// pipeAddr is the name of a pipe.
type pipeAddr string

// Network implements net.Addr.
func (pipeAddr) Network() string { return "pipe" }

// String implements net.Addr.
func (a pipeAddr) String() string { return string(a) }

// pipeConn is one end of a connected pipe. The runtime polls its file, so that deadlines work.
type pipeConn struct{ *os.File }

func pipe(h windows.Handle, path string) pipeConn { return pipeConn{os.NewFile(uintptr(h), path)} }

// LocalAddr implements net.Conn.
func (c pipeConn) LocalAddr() net.Addr { return pipeAddr(c.Name()) }

// RemoteAddr implements net.Conn.
func (c pipeConn) RemoteAddr() net.Addr { return pipeAddr(c.Name()) }

// busyPause is the time after which a client tries again to connect to a pipe that had no free instance.
const busyPause = 5 * time.Millisecond

// connect connects to the pipe of a claim until end, and refuses one that another user made. Its error is ErrElevated if
// the pipe does not admit processes without administrator rights, and this process has none.
func connect(dir, name string, end time.Time) (net.Conn, error) {
	var file pipeFile
	if err := store.In(dir).Read(pipeFileName(name), &file); err != nil {
		return nil, err
	}
	text := pipePath(name, file.Random)
	path, err := windows.UTF16PtrFromString(text)
	if err != nil {
		return nil, err
	}
	for {
		// Anonymous: the process that created the pipe must not act as this user.
		h, err := windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING,
			windows.FILE_FLAG_OVERLAPPED|windows.SECURITY_SQOS_PRESENT|windows.SECURITY_ANONYMOUS, 0)
		if errors.Is(err, windows.ERROR_PIPE_BUSY) && time.Now().Before(end) {
			time.Sleep(busyPause)
			continue
		}
		if err != nil {
			level, levelErr := ownIntegrity()
			return nil, fmt.Errorf("connect to the pipe %s: %w", text, errors.Join(refusal(err, level), levelErr))
		}
		if err := checkOwner(h); err != nil {
			_ = windows.CloseHandle(h)
			return nil, fmt.Errorf("connect to the pipe %s: %w", text, err)
		}
		return pipe(h, text), nil
	}
}

// refusal returns ErrElevated if err reports that the pipe refused this process, which has this integrity level. The access
// list admits every process of the user, so only the label can have refused it. It returns other errors as they are.
func refusal(err error, level uint32) error {
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) && level < highIntegrity {
		return ErrElevated
	}
	return err
}

// checkOwner returns an error unless a pipe belongs to this user, as descriptor requires. Only an administrator, who may
// restore files of others, can create a pipe that belongs to another user. checkOwner does not use the pid of the process
// that created the pipe, since the system may have given the pid to another process.
func checkOwner(pipe windows.Handle) error {
	sd, err := windows.GetSecurityInfo(pipe, windows.SE_KERNEL_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("cannot read the owner of the pipe: %w", err)
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return fmt.Errorf("find the owner of the pipe: %w", err)
	}
	user, err := ownUser()
	if err != nil {
		return err
	}
	if owner == nil || !owner.Equals(user) {
		return errors.New("the process that answers instead of Rollcall belongs to another user")
	}
	return nil
}

// checkAccess returns nil: the access lists that folders in %LOCALAPPDATA% inherit admit only the user.
func checkAccess(string, fs.FileInfo) error { return nil }

// checkPeer returns no error, and no process: the pipe admits only the user's own processes, and each client checks whose pipe it is.
func checkPeer(net.Conn, uint64) (proc.Process, error) { return proc.Process{}, nil }
