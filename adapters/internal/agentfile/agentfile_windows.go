package agentfile

import (
	"io/fs"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Open opens a file or folder for reading and lets its owner delete, rename and replace it
// meanwhile. os.Open does not, so that an agent that saves its file at that moment would fail.
// The errors of Open are those of os.Open.
func Open(path string) (*os.File, error) {
	h, err := openShared(path, windows.GENERIC_READ)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// openShared opens a file or folder for the access, and lets other programs read, write, rename and delete it meanwhile.
func openShared(path string, access uint32) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return windows.InvalidHandle, err
	}
	return windows.CreateFile(name, access, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
}

// OwnedByUser always returns true. The environment of another user's process is
// not visible, so none of that user's folders is found in the first place.
func OwnedByUser(fs.FileInfo) bool { return true }

// StampOf returns the stamp of a file, which it opens: info does not have all of it here. It must
// be called right after info was read, and is zero for a file that can't be opened.
func StampOf(path string, _ fs.FileInfo) Stamp {
	h, err := openShared(path, windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		return Stamp{}
	}
	defer windows.CloseHandle(h) //nolint:errcheck // it was only read
	return stampOfHandle(h)
}

// StampOfOpen returns the stamp of a file that is open.
func StampOfOpen(f *os.File, _ fs.FileInfo) Stamp { return stampOfHandle(windows.Handle(f.Fd())) }

// basicInfo is the system's FILE_BASIC_INFO.
type basicInfo struct {
	created, accessed, written, changed int64 // in 100 ns since 1601
	attributes                          uint32
	_                                   uint32
}

// since1601 is the time between 1601 and 1970, in units of 100 ns.
const since1601 = 116444736000000000

func stampOfHandle(h windows.Handle) Stamp {
	var id windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(h, &id) != nil {
		return Stamp{}
	}
	var basic basicInfo
	if windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&basic)), uint32(unsafe.Sizeof(basic))) != nil {
		return Stamp{}
	}
	s := Stamp{Device: uint64(id.VolumeSerialNumber), Inode: uint64(id.FileIndexHigh)<<32 | uint64(id.FileIndexLow),
		Size:     int64(id.FileSizeHigh)<<32 | int64(id.FileSizeLow),
		Modified: (basic.written - since1601) * 100, Changed: (basic.changed - since1601) * 100}
	return s.settle(time.Now())
}
