package proc

import (
	"github.com/shirou/gopsutil/v3/process"
	"golang.org/x/sys/windows"
)

// ask lets gopsutil read a detail from the process's memory.
func ask(id Identity) *process.Process { return &process.Process{Pid: int32(id.PID)} }

// Args implements Details.
func (t *Table) Args(id Identity) ([]string, error) { return detail(t, id, ask(id).CmdlineSlice) }

// CWD implements Details.
func (t *Table) CWD(id Identity) (string, error) { return detail(t, id, ask(id).Cwd) }

// Env implements Details.
func (t *Table) Env(id Identity) ([]string, error) { return detail(t, id, ask(id).Environ) }

// Exe implements Details.
func (t *Table) Exe(id Identity) (string, error) {
	handle, err := openProcess(id)
	if err != nil {
		return "", err
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	name := make([]uint16, windows.MAX_LONG_PATH)
	size := uint32(len(name))
	if err := windows.QueryFullProcessImageName(handle, 0, &name[0], &size); err != nil {
		return "", err
	}
	return windows.UTF16ToString(name[:size]), nil
}

// OpenFiles implements Details: Windows lists the handles of all processes only,
// and to ask a pipe among them for its name can block for ever.
func (t *Table) OpenFiles(Identity) ([]string, error) { return nil, ErrUnsupported }
