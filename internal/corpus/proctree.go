package corpus

import (
	"fmt"
	"os"
	"path/filepath"
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
	ticks uint64
}

// writeProc writes the process table: the live sessions' processes among
// others, in the form of Linux's /proc.
func (w *writer) writeProc(dir string) error {
	root := filepath.Join(dir, "proc")
	procs := w.procs
	for i := range others {
		procs = append(procs, process{pid: 1000 + i, comm: "worker", cwd: "/", args: []string{"/usr/bin/worker"}, ticks: uint64(100 + i)})
	}
	for _, p := range procs {
		if err := w.writeProcess(root, p); err != nil {
			return err
		}
	}
	boot := w.Now.Add(-48 * time.Hour).Unix()
	files := map[string]string{
		"proc/stat":                      fmt.Sprintf("cpu  0 0 0 0\nbtime %d\n", boot),
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
	stat := fmt.Sprintf("%d (%s) S 1 %d %d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", p.pid, p.comm, p.pid, p.pid, p.ticks)
	for name, text := range map[string]string{"stat": stat, "comm": p.comm + "\n", "cmdline": strings.Join(p.args, "\x00") + "\x00", "environ": "HOME=" + w.home + "\x00"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	links := map[string]string{"cwd": p.cwd, "exe": "/usr/bin/" + p.comm}
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
