package adaptertest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rollcall/proc"
)

// buildProc writes the /proc and /etc of the recorded machine.
func (r *Recording) buildProc(t testing.TB, recorded processesFile) {
	t.Helper()
	tree := tree{t}
	tree.file(filepath.Join(r.EtcRoot, "machine-id"), machineID+"\n")
	tree.file(filepath.Join(r.ProcRoot, "stat"), fmt.Sprintf("cpu  0 0 0 0\nbtime %d\n", recorded.BootTime))
	tree.file(filepath.Join(r.ProcRoot, "sys/kernel/random/boot_id"), bootID+"\n")
	tree.link(filepath.Join(r.ProcRoot, "self/ns/pid"), pidNamespace)
	for _, p := range recorded.Processes {
		r.addProcess(t, p)
	}
	tree.file(filepath.Join(r.ProcRoot, "locks"), r.locks(t, recorded.Locks))
}

// addProcess writes the folder of one process.
func (r *Recording) addProcess(t testing.TB, p process) {
	t.Helper()
	tree, dir := tree{t}, filepath.Join(r.ProcRoot, strconv.Itoa(p.PID))
	tree.file(filepath.Join(dir, "stat"), p.stat())
	tree.file(filepath.Join(dir, "comm"), p.Comm+"\n")
	tree.file(filepath.Join(dir, "status"), fmt.Sprintf("Name:\t%s\nTgid:\t%d\nPid:\t%d\nPPid:\t%d\n", p.Comm, p.PID, p.PID, p.PPID))
	tree.file(filepath.Join(dir, "cmdline"), zeroTerminated(p.Args))
	tree.file(filepath.Join(dir, "environ"), zeroTerminated(r.environ(p.Env)))
	if p.Exe != "" { // a zombie has none
		tree.link(filepath.Join(dir, "exe"), r.Path(p.Exe))
	}
	if p.CWD != "" {
		tree.link(filepath.Join(dir, "cwd"), p.CWD)
	}
	tree.link(filepath.Join(dir, "fd/0"), cmp.Or(p.TTY, "/dev/pts/0"))
	for i, path := range p.Files {
		tree.link(filepath.Join(dir, "fd", strconv.Itoa(i+3)), r.Path(path))
	}
}

// stat is /proc/PID/stat with the fields that were recorded; the kernel's other
// fields are zero.
func (p *process) stat() string {
	fields := make([]string, 52)
	for i := range fields {
		fields[i] = "0"
	}
	fields[0] = strconv.Itoa(p.PID)
	fields[1] = "(" + p.Comm + ")"
	fields[2] = p.State
	fields[3] = strconv.Itoa(p.PPID)
	fields[4] = strconv.Itoa(p.PGID)
	fields[5] = strconv.Itoa(p.SID)
	if number, err := strconv.Atoi(strings.TrimPrefix(p.TTY, "/dev/pts/")); err == nil {
		fields[6] = strconv.Itoa(136<<8 | number)
	}
	fields[19] = "1"
	fields[21] = strconv.FormatUint(p.Start, 10)
	return strings.Join(fields, " ") + "\n"
}

// environ translates the folders in an environment.
func (r *Recording) environ(recorded map[string]string) []string {
	var env []string
	for key, value := range recorded {
		switch {
		case key == "HOME", strings.HasSuffix(key, "_HOME"), strings.HasSuffix(key, "_CONFIG_DIR"), strings.HasSuffix(key, "_AGENT_DIR"):
			value = r.folder(value)
		default:
			value = r.Path(value)
		}
		env = append(env, key+"="+value)
	}
	slices.Sort(env)
	return env
}

// locks is /proc/locks with the ids of the copied files. A file that was locked
// but not recorded has no id, so its line is left out.
func (r *Recording) locks(t testing.TB, recorded map[string]int) string {
	t.Helper()
	var lines strings.Builder
	number := 0
	for path, pid := range recorded {
		info, err := os.Stat(r.Path(path))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatalf("recording: %v", err)
		}
		id, ok := proc.FileIDOf(info)
		if !ok {
			t.Fatalf("recording: %s has no inode", path)
		}
		number++
		fmt.Fprintf(&lines, "%d: FLOCK  ADVISORY  WRITE %d %02x:%02x:%d 0 EOF\n", number, pid, id.Major, id.Minor, id.Inode)
	}
	return lines.String()
}

func zeroTerminated(values []string) string {
	var b strings.Builder
	for _, v := range values {
		b.WriteString(v)
		b.WriteByte(0)
	}
	return b.String()
}

// tree writes files of a made-up tree.
type tree struct{ t testing.TB }

func (w tree) file(path, content string) {
	w.t.Helper()
	w.folder(path)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatalf("recording: %v", err)
	}
}

func (w tree) link(path, target string) {
	w.t.Helper()
	w.folder(path)
	if err := os.Symlink(target, path); err != nil {
		w.t.Fatalf("recording: %v", err)
	}
}

func (w tree) folder(path string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatalf("recording: %v", err)
	}
}
