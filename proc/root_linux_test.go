package proc

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
	"time"

	"rollcall/bounded"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
)

// A process with another root folder, which is on a file system that does not answer: where its files are is known without asking that.
func TestRootHangs(t *testing.T) {
	mount := testfs.Mount(t, t.TempDir())
	cmd := exec.Command("perl", "-e", `chroot $ARGV[0] and chdir "/" or die $!; $| = 1; print "there\n"; sleep 600`, mount.Path)
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	table := Open()
	process := must.Get(table.Find(cmd.Process.Pid))(t)
	mount.Hang(t)
	testfs.AwaitHang(t, mount.Path)
	root, err := bounded.Within(t.Context(), time.Minute, func() (string, error) { return table.Root(process.Identity) })
	if err != nil || root == "" {
		t.Errorf("%q, %v", root, err)
	}
}
