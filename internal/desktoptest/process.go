//go:build linux

package desktoptest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is one program of the desktop, leader of a process group of its own.
type process struct {
	name string
	log  string // file with what it printed
	pid  int
	gone chan struct{} // closed when it and its group are gone

	mu     sync.Mutex
	reaped bool // from here on pid may be another's
}

// keeper starts processes from one thread that lives as long as the desktop:
// the kernel ties "die with the parent" to the thread that started the child.
type keeper struct {
	jobs chan func()
}

func newKeeper() *keeper {
	k := &keeper{jobs: make(chan func())}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for job := range k.jobs {
			job()
		}
	}()
	return k
}

func (k *keeper) close() { close(k.jobs) }

func (k *keeper) start(cmd *exec.Cmd) (err error) {
	done := make(chan struct{})
	k.jobs <- func() {
		err = cmd.Start()
		close(done)
	}
	<-done
	return err
}

// start runs argv with the desktop's environment; extra, if set, becomes its
// descriptor 3. Its output goes to a file in the desktop's folder.
func (d *Desktop) start(extra *os.File, env []string, argv ...string) (*process, error) {
	name := filepath.Base(argv[0])
	p := &process{name: name, gone: make(chan struct{}), log: filepath.Join(d.dir, name+".log")}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	cmd.Dir = d.home
	cmd.Stdout, cmd.Stderr = out, out
	if extra != nil {
		cmd.ExtraFiles = []*os.File{extra}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := d.keeper.start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p.pid = cmd.Process.Pid
	d.mu.Lock()
	d.procs = append(d.procs, p)
	d.mu.Unlock()
	go p.watch(cmd, d.poke)
	return p, nil
}

// watch waits for the end and takes the rest of the group along. While the
// leader is a zombie its pid, and so the group's number, can't be reused.
func (p *process) watch(cmd *exec.Cmd, ended func()) {
	for {
		if err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			break
		}
	}
	p.mu.Lock()
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.reaped = true
	_ = cmd.Wait()
	p.mu.Unlock()
	close(p.gone)
	ended()
}

func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.pid, s)
	}
}

func (p *process) alive() bool {
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}

// stop asks for the end, and after a grace time enforces it.
func (p *process) stop() {
	p.signal(syscall.SIGTERM)
	select {
	case <-p.gone:
		return
	case <-time.After(time.Second):
	}
	p.signal(syscall.SIGKILL)
	<-p.gone
}

// tail returns the end of what the process printed, for error messages.
func (p *process) tail() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	if len(b) > 2000 {
		b = b[len(b)-2000:]
	}
	return strings.TrimSpace(string(b))
}
