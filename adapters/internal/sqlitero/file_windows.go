package sqlitero

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"

	"rollcall/adapters/internal/shared"
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
// same moment, as SQLite does with its log.
func openShared(path string) (*os.File, error) { return shared.Open(path) }
