//go:build windows

package trash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

func deviceOf(string) (uint64, error) { return 0, errors.ErrUnsupported }

var fileOperation = windows.NewLazySystemDLL("shell32.dll").NewProc("SHFileOperationW")

// fileOp is SHFILEOPSTRUCTW as 64-bit Windows lays it out.
type fileOp struct {
	window        uintptr
	function      uint32
	from, to      *uint16
	flags         uint16
	aborted       int32
	nameMappings  uintptr
	progressTitle *uint16
}

const (
	foDelete = 3 // FO_DELETE
	// FOF_SILENT, FOF_NOCONFIRMATION, FOF_ALLOWUNDO, FOF_NOERRORUI and FOF_WANTNUKEWARNING, which makes Windows ask before
	// it deletes a file for which the bin has no room.
	flags = 0x4 | 0x10 | 0x40 | 0x400 | 0x4000
)

// put moves the file to the Recycle Bin. This code was run only under Wine 8.
func (t *Trash) put(path string) (string, error) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		return "", ErrNone // 32-bit Windows packs the structure otherwise
	}
	from, err := windows.UTF16FromString(filepath.FromSlash(path)) // the shell knows no slashes
	if err != nil {
		return "", err
	}
	from = append(from, 0) // a list of names ends with an empty one
	op := fileOp{function: foDelete, from: &from[0], flags: flags}
	code, _, _ := fileOperation.Call(uintptr(unsafe.Pointer(&op)))
	switch {
	case code != 0:
		return "", fmt.Errorf("move %s to the Recycle Bin: error %#x", path, code)
	case op.aborted != 0:
		return "", fmt.Errorf("move %s to the Recycle Bin: cancelled", path)
	}
	// The function reports some failures as success.
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("move %s to the Recycle Bin: it is still there", path)
	}
	return "the Recycle Bin", nil
}
