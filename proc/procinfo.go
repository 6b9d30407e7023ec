package proc

import (
	"bytes"
	"encoding/binary"
	"time"
)

// The layout of what macOS returns for the system call proc_info, from xnu's bsd/sys/proc_info.h, which is the same on Intel and
// ARM. The functions that parse it are in a file for all systems so that their tests run on any.
const (
	fdInfoSize        = 8                         // struct proc_fdinfo: number (int32), type (uint32)
	fdVnode           = 1                         // PROX_FDTYPE_VNODE
	fileInfoSize      = 24                        // struct proc_fileinfo
	vnodeStatSize     = 136                       // struct vinfo_stat, which vi_type (int32) follows
	vnodeRegular      = 1                         // VREG
	vnodeInfoSize     = vnodeStatSize + 4 + 4 + 8 // struct vnode_info
	vnodePathLength   = 1024                      // MAXPATHLEN
	vnodePathInfoSize = vnodeInfoSize + vnodePathLength
	fdPathInfoSize    = fileInfoSize + vnodePathInfoSize // struct vnode_fdinfowithpath
	taskInfoSize      = 96                               // struct proc_taskinfo
	foldersInfoSize   = 2 * vnodePathInfoSize            // struct proc_vnodepathinfo: the working and the root folder
)

// parseDescriptors returns the numbers of the descriptors in b that are files or folders.
func parseDescriptors(b []byte) (numbers []int32) {
	for ; len(b) >= fdInfoSize; b = b[fdInfoSize:] {
		if binary.LittleEndian.Uint32(b[4:]) == fdVnode {
			numbers = append(numbers, int32(binary.LittleEndian.Uint32(b)))
		}
	}
	return numbers
}

// parseFile returns the path of a descriptor's file, and "" for what is no regular file or has no path any more.
func parseFile(b []byte) string {
	if len(b) < fdPathInfoSize || binary.LittleEndian.Uint32(b[fileInfoSize+vnodeStatSize:]) != vnodeRegular {
		return ""
	}
	return pathIn(b[fileInfoSize+vnodeInfoSize : fdPathInfoSize])
}

// parseFolder returns the working folder, and "" where the system does not tell its path.
func parseFolder(b []byte) string {
	if len(b) < foldersInfoSize {
		return ""
	}
	return pathIn(b[vnodeInfoSize:vnodePathInfoSize])
}

// pathIn returns the text in b up to the first zero.
func pathIn(b []byte) string {
	path, _, _ := bytes.Cut(b, []byte{0})
	return string(path)
}

// parseTaskInfo returns what a process uses. Its times are in units of the processor's clock: nanoseconds on Intel, and on the ARM processors of Apple 125/3 ns
// (mach_timebase_info).
func parseTaskInfo(b []byte, isARM bool) (Load, error) {
	if len(b) < taskInfoSize {
		return Load{}, ErrUnsupported
	}
	number := binary.LittleEndian.Uint64 // virtual and resident size, and the times in user and system mode come first
	used := number(b[16:]) + number(b[24:])
	if isARM {
		used = used / 3 * 125
	}
	return Load{Processor: time.Duration(used), Memory: number(b[8:])}, nil
}
