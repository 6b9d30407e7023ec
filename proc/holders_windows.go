package proc

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Restart Manager is what installers ask who uses a file. It needs no rights of an administrator.
var (
	restartManager      = windows.NewLazySystemDLL("rstrtmgr.dll")
	rmStartSession      = restartManager.NewProc("RmStartSession")
	rmRegisterResources = restartManager.NewProc("RmRegisterResources")
	rmGetList           = restartManager.NewProc("RmGetList")
	rmEndSession        = restartManager.NewProc("RmEndSession")
)

// rmCall calls a function that returns an error of Windows.
func rmCall(f *windows.LazyProc, args ...uintptr) error {
	if err := f.Find(); err != nil {
		return errors.Join(ErrUnsupported, err)
	}
	code, _, _ := f.Call(args...)
	if code != 0 {
		return windows.Errno(code)
	}
	return nil
}

// Holders implements Lister.
func (t *Table) Holders(path string) ([]Identity, error) {
	holders, err := fileHolders(path)
	if err != nil {
		return nil, fmt.Errorf("who has %s open: %w", path, err)
	}
	return holders, nil
}

func fileHolders(path string) ([]Identity, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	// A handle for attributes alone disturbs nobody, and is one of the file's.
	const shared = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	file, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, shared, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = windows.CloseHandle(file) }()

	var session uint32
	var key [33]uint16
	if err := rmCall(rmStartSession, uintptr(unsafe.Pointer(&session)), 0, uintptr(unsafe.Pointer(&key[0]))); err != nil {
		return nil, err
	}
	defer func() { _ = rmCall(rmEndSession, uintptr(session)) }()
	names := []*uint16{name}
	if err := rmCall(rmRegisterResources, uintptr(session), 1, uintptr(unsafe.Pointer(&names[0])), 0, 0, 0, 0); err != nil {
		return nil, err
	}
	self, err := ownIdentity()
	if err != nil {
		return nil, err
	}
	return readHolders(self, func(list []rmProcess) (int, error) {
		var needed, reasons uint32
		count := uint32(len(list))
		err := rmCall(rmGetList, uintptr(session), uintptr(unsafe.Pointer(&needed)), uintptr(unsafe.Pointer(&count)),
			uintptr(unsafe.Pointer(&list[0])), uintptr(unsafe.Pointer(&reasons)))
		if errors.Is(err, windows.ERROR_MORE_DATA) {
			return int(needed), errMoreHolders
		}
		return int(count), err
	})
}

// ownIdentity returns the identity of this process.
func ownIdentity() (Identity, error) {
	var created, exited, kernel, user windows.Filetime
	err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user)
	return Identity{PID: int(windows.GetCurrentProcessId()), Start: uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)}, err
}
