//go:build linux

package sqlitero

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// The tests' writers are processes of their own: this binary, run again.
func TestMain(m *testing.M) {
	switch os.Getenv("SQLITERO_ROLE") {
	case "writer":
		writer(os.Args[1], os.Stdin, os.Stdout)
		os.Exit(0)
	case "reader":
		os.Exit(reader(os.Args[1]))
	}
	os.Exit(m.Run())
}

// writer obeys one statement or command a line and answers "ok" or the error.
func writer(path string, in io.Reader, out io.Writer) {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		fmt.Fprintln(out, err)
		return
	}
	db.SetMaxOpenConns(1)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		err := error(nil)
		switch line := lines.Text(); {
		case line == "close":
			err = db.Close()
		case strings.HasPrefix(line, "transfer "):
			var seconds float64
			fmt.Sscanf(line, "transfer %f", &seconds)
			var n int
			n, err = transfer(db, time.Duration(seconds*float64(time.Second)))
			if err == nil {
				fmt.Fprintf(out, "ok %d\n", n)
				continue
			}
		default:
			_, err = db.Exec(line)
		}
		if err != nil {
			fmt.Fprintln(out, "error:", err)
			continue
		}
		fmt.Fprintln(out, "ok")
	}
}

// transfer moves money between accounts that lie on many pages, so that a
// reader that mixes two states sees another sum; it checkpoints in every way,
// and now and then closes and opens the database again.
func transfer(db *sql.DB, d time.Duration) (int, error) {
	end := time.Now().Add(d)
	n := 0
	for ; time.Now().Before(end); n++ {
		tx, err := db.Begin()
		if err != nil {
			return n, err
		}
		for i := range 20 {
			from, to := (n*7+i*13)%200, (n*11+i*17+1)%200
			if _, err := tx.Exec(`UPDATE account SET money = money - 5 WHERE id = ?`, from); err != nil {
				return n, err
			}
			if _, err := tx.Exec(`UPDATE account SET money = money + 5 WHERE id = ?`, to); err != nil {
				return n, err
			}
		}
		if err := tx.Commit(); err != nil {
			return n, err
		}
		if kinds := []string{"PASSIVE", "FULL", "RESTART", "TRUNCATE"}; n%5 == 0 {
			if _, err := db.Exec(`PRAGMA wal_checkpoint(` + kinds[n/5%4] + `)`); err != nil {
				return n, err
			}
		}
		if n%50 == 49 { // the last connection to go takes the log along
			db.SetMaxIdleConns(0)
			db.SetMaxIdleConns(1)
		}
	}
	return n, nil
}

// reader reads as a user of its own, and says what came of it.
func reader(path string) int {
	n, _, err := count(context.Background(), path)
	fmt.Println(n, err)
	return 0
}

type process struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startWriter(t testing.TB, path string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), "SQLITERO_ROLE=writer")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must.Do(t, err)
	out, err := cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	p := &process{t, cmd, in, bufio.NewScanner(out)}
	t.Cleanup(func() { p.in.Close(); p.cmd.Process.Kill(); p.cmd.Wait() })
	return p
}

func (p *process) send(line string) {
	p.t.Helper()
	must.Get(fmt.Fprintln(p.in, line))(p.t)
}

func (p *process) answer() string {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatal("the writer is gone:", p.out.Err())
	}
	if got := p.out.Text(); !strings.HasPrefix(got, "ok") {
		p.t.Fatal("the writer:", got)
	}
	return p.out.Text()
}

func (p *process) do(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		p.send(line)
		p.answer()
	}
}

func (p *process) kill() {
	p.t.Helper()
	p.cmd.Process.Signal(syscall.SIGKILL)
	p.cmd.Wait()
}

// asNobody runs the reader as a user without rights.
func asNobody(t *testing.T, path string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		must.Skip(t, "only root can run a process as another user")
	}
	cmd := exec.Command("/proc/self/fd/3", path)
	self, err := os.Open(os.Args[0]) // the test binary lies in a private folder
	must.Do(t, err)
	defer self.Close()
	cmd.ExtraFiles = []*os.File{self}
	cmd.Env = []string{"SQLITERO_ROLE=reader", "HOME=/", "GORACE=atexit_sleep_ms=0"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

func mkfifo(t *testing.T, path string) {
	t.Helper()
	must.Do(t, unix.Mkfifo(path, 0o600))
}
