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
