package sqlitero

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

type fileID struct{ volume, high, low uint32 }

func idOf(f *os.File, _ fs.FileInfo) fileID {
	var d windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &d) != nil {
		return fileID{}
	}
	return fileID{d.VolumeSerialNumber, d.FileIndexHigh, d.FileIndexLow}
}

// openShared opens for reading in a way that lets others delete the file at the
// same moment, as SQLite does with its log; os.Open would make that fail.
func openShared(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}
