package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	machine = "0123456789abcdef0123456789abcdef"
	pidns   = "pid:[4026531836]"
	domain  = "linux:" + machine + ":" + pidns
	others  = 300 // processes that are no agents, as on a desktop
)

type process struct {
	pid   int
	comm  string
	cwd   string
	args  []string
	files []string
	exe   string   // "": /usr/bin/<comm>
	env   []string // beside HOME
	ppid  int      // 0: 1
	ticks uint64
}

// tick is the unit of a process's start time.
const tick = 10 * time.Millisecond

// process adds the process of a live session, which began a second before it.
func (w *writer) process(s *session, p process) process {
	p.pid, p.cwd = s.PID, s.CWD
	p.ticks = uint64(s.start.Add(-time.Second).Sub(w.boot) / tick)
	w.addProcess(p)
	return p
}

func (w *writer) addProcess(p process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.procs = append(w.procs, p)
}

// writeProc writes the process table: the live sessions' processes among
// others, in the form of Linux's /proc.
func (w *writer) writeProc(dir string) error {
	root := filepath.Join(dir, "proc")
	procs := slices.Clone(w.procs)
	for i := range others {
		procs = append(procs, process{pid: 1000 + i, comm: "worker", cwd: "/", args: []string{"/usr/bin/worker"}, ticks: uint64(100 + i)})
	}
	for _, p := range procs {
		if err := w.writeProcess(root, p); err != nil {
			return err
		}
	}
	files := map[string]string{
		"proc/stat":                      fmt.Sprintf("cpu  0 0 0 0\nbtime %d\n", w.boot.Unix()),
		"proc/locks":                     "",
		"proc/sys/kernel/random/boot_id": "11111111-2222-3333-4444-555555555555\n",
		"etc/machine-id":                 machine + "\n",
		"proc/self/status":               "",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "self", "ns"), 0o700); err != nil {
		return err
	}
	return os.Symlink(pidns, filepath.Join(root, "self", "ns", "pid"))
}

func (w *writer) writeProcess(root string, p process) error {
	dir := filepath.Join(root, fmt.Sprint(p.pid))
	if err := os.MkdirAll(filepath.Join(dir, "fd"), 0o700); err != nil {
		return err
	}
	stat := fmt.Sprintf("%d (%s) S %d %d %d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", p.pid, p.comm, max(p.ppid, 1), p.pid, p.pid, p.ticks)
	for name, text := range map[string]string{"stat": stat, "comm": p.comm + "\n", "cmdline": strings.Join(p.args, "\x00") + "\x00", "environ": strings.Join(append([]string{"HOME=" + w.home}, p.env...), "\x00") + "\x00"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	exe := p.exe
	if exe == "" {
		exe = "/usr/bin/" + p.comm
	}
	links := map[string]string{"cwd": p.cwd, "exe": exe}
	for i, f := range p.files {
		links[fmt.Sprintf("fd/%d", i+3)] = f
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
