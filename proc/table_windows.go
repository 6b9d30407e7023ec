package proc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// List implements Lister. One call of NtQuerySystemInformation returns all processes
// with their start times, also those that may not be opened; the documented snapshot
// has no start times.
func (t *Table) List(ctx context.Context) ([]Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("process table: %w", err)
	}
	buffer, err := systemProcesses()
	if err != nil {
		return nil, fmt.Errorf("process table: %w", err)
	}
	var rows []Process
	for offset := uint32(0); ; {
		info := (*windows.SYSTEM_PROCESS_INFORMATION)(unsafe.Pointer(&buffer[offset]))
		// A process that has ended, while another one has it open, has no threads.
		if info.NumberOfThreads > 0 && info.UniqueProcessID != 0 {
			rows = append(rows, row(info))
		}
		if info.NextEntryOffset == 0 {
			return rows, nil
		}
		offset += info.NextEntryOffset
	}
}

// systemProcesses returns the chain of SYSTEM_PROCESS_INFORMATION.
func systemProcesses() ([]byte, error) {
	size := uint32(512 << 10)
	for {
		buffer := make([]byte, size)
		var needed uint32
		err := windows.NtQuerySystemInformation(windows.SystemProcessInformation, unsafe.Pointer(&buffer[0]), size, &needed)
		if err == nil {
			return buffer, nil
		}
		if !errors.Is(err, windows.STATUS_INFO_LENGTH_MISMATCH) || size > 256<<20 {
			return nil, fmt.Errorf("NtQuerySystemInformation: %w", err)
		}
		size = max(size*2, needed+64<<10) // more processes may start meanwhile
	}
}

func row(info *windows.SYSTEM_PROCESS_INFORMATION) Process {
	name := info.ImageName.String()
	if len(name) > 4 && strings.EqualFold(name[len(name)-4:], ".exe") {
		name = name[:len(name)-4]
	}
	start := uint64(info.CreateTime)
	return Process{
		Identity: Identity{PID: int(info.UniqueProcessID), Start: start},
		PPID:     int(info.InheritedFromUniqueProcessID), Comm: name, Started: fileTime(start),
		Suspended: suspended(info),
	}
}

// thread is SYSTEM_THREAD_INFORMATION. One per thread follows each
// SYSTEM_PROCESS_INFORMATION.
type thread struct {
	kernelTime, userTime, createTime int64
	waitTime                         uint32
	startAddress                     uintptr
	process, thread                  uintptr
	priority, basePriority           int32
	switches, state, waitReason      uint32
}

// Values of KTHREAD_STATE and KWAIT_REASON.
const (
	threadWaits   = 5
	whySuspended  = 5
	whySuspended2 = 12 // WrSuspended
)

// suspended reports whether all threads of a process are suspended.
func suspended(info *windows.SYSTEM_PROCESS_INFORMATION) bool {
	// C aligns the 64-bit times to 8 bytes, also where Go does not.
	const stride = (unsafe.Sizeof(thread{}) + 7) &^ 7
	first := unsafe.Add(unsafe.Pointer(info), unsafe.Sizeof(*info))
	for i := range uintptr(info.NumberOfThreads) {
		t := (*thread)(unsafe.Add(first, i*stride))
		if t.state != threadWaits || t.waitReason != whySuspended && t.waitReason != whySuspended2 {
			return false
		}
	}
	return info.NumberOfThreads > 0
}

// fileTime makes a time of 100 ns since 1601.
func fileTime(start uint64) time.Time {
	ft := windows.Filetime{LowDateTime: uint32(start), HighDateTime: uint32(start >> 32)}
	return time.Unix(0, ft.Nanoseconds())
}

// Find implements Lister.
func (t *Table) Find(pid int) (Process, error) {
	if pid <= 0 {
		return Process{}, ErrGone
	}
	rows, err := t.List(context.Background())
	if err != nil {
		return Process{}, err
	}
	i := slices.IndexFunc(rows, func(p Process) bool { return p.PID == pid })
	if i < 0 {
		return Process{}, ErrGone
	}
	return rows[i], nil
}

// check returns nil when the process identified by id is alive, ErrGone when it is not,
// and another error when that can't be known. It opens the process where that is
// permitted, and reads the table otherwise.
func (t *Table) check(id Identity) error {
	handle, err := openProcess(id, 0)
	switch {
	case err == nil:
		return windows.CloseHandle(handle)
	case errors.Is(err, ErrGone):
		return err
	}
	return t.checkRow(id)
}
