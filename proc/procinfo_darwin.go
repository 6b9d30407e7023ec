package proc

import (
	"fmt"
	"io/fs"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls and flavors of proc_info (xnu, bsd/sys/proc_info.h), which libproc's proc_pidinfo, proc_pidfdinfo and proc_pidpath make.
const (
	callPIDInfo = 2
	callFDInfo  = 3

	flavorDescriptors = 1  // PROC_PIDLISTFDS
	flavorFDPath      = 2  // PROC_PIDFDVNODEPATHINFO
	flavorTask        = 4  // PROC_PIDTASKINFO
	flavorFolders     = 9  // PROC_PIDVNODEPATHINFO
	flavorExe         = 11 // PROC_PIDPATHINFO

	maxExePath = 4 * vnodePathLength // PROC_PIDPATHINFO_MAXSIZE
	// spareDescriptors is how many descriptors may be opened between the two calls that list them.
	spareDescriptors = 32
)

// procInfo asks the kernel about a process and returns how many bytes it wrote into b. With an empty b it returns how many there
// are. The kernel refuses other users' processes; the error wraps fs.ErrPermission then. Paths are the file system's own bytes:
// lsof, which was asked before, escapes them unless the locale has UTF-8.
func procInfo(call, pid, flavor, arg int, b []byte) (int, error) {
	var buffer unsafe.Pointer
	if len(b) > 0 {
		buffer = unsafe.Pointer(&b[0])
	}
	n, _, errno := unix.Syscall6(unix.SYS_PROC_INFO, uintptr(call), uintptr(pid), uintptr(flavor), uintptr(arg), uintptr(buffer), uintptr(len(b)))
	switch errno {
	case 0:
		return int(n), nil
	case unix.ESRCH:
		return 0, ErrGone
	case unix.EPERM:
		return 0, fs.ErrPermission
	}
	return 0, errno
}

// openFiles returns the regular files that a process has open, each once. It makes two calls, and one for each file.
func openFiles(pid int) ([]string, error) {
	size, err := procInfo(callPIDInfo, pid, flavorDescriptors, 0, nil)
	if err != nil {
		return nil, fmt.Errorf("pid %d: open files: %w", pid, err)
	}
	list := make([]byte, size+spareDescriptors*fdInfoSize)
	size, err = procInfo(callPIDInfo, pid, flavorDescriptors, 0, list)
	if err != nil {
		return nil, fmt.Errorf("pid %d: open files: %w", pid, err)
	}
	var files []string
	info := make([]byte, fdPathInfoSize)
	for _, number := range parseDescriptors(list[:size]) {
		n, err := procInfo(callFDInfo, pid, flavorFDPath, int(number), info)
		if err != nil {
			continue // closed since the list was made
		}
		path := parseFile(info[:n])
		if path != "" && !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	return files, nil
}

// workingFolder returns the folder that a process is in.
func workingFolder(pid int) (string, error) {
	info := make([]byte, foldersInfoSize)
	n, err := procInfo(callPIDInfo, pid, flavorFolders, 0, info)
	folder := parseFolder(info[:n])
	if err == nil && folder == "" {
		err = fs.ErrPermission
	}
	if err != nil {
		return "", fmt.Errorf("pid %d: working directory: %w", pid, err)
	}
	return folder, nil
}

// executable returns the path of the program that a process runs.
func executable(pid int) (string, error) {
	path := make([]byte, maxExePath)
	if _, err := procInfo(callPIDInfo, pid, flavorExe, 0, path); err != nil {
		return "", fmt.Errorf("pid %d: executable: %w", pid, err)
	}
	return pathIn(path), nil
}
