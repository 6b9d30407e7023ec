package store

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"rollcall/internal/must"
)

// TestReadWhileReplaced checks that every value is read although values are replaced all the time. A listing of a tmpfs
// can leave out an entry that is renamed meanwhile.
func TestReadWhileReplaced(t *testing.T) {
	const shm, tmpfs = "/dev/shm", 0x01021994
	var fs syscall.Statfs_t
	if err := syscall.Statfs(shm, &fs); err != nil || fs.Type != tmpfs {
		t.Skipf("%s is no tmpfs: %v", shm, err)
	}
	dir := must.Get(os.MkdirTemp(shm, "rollcall-test-"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	f := In(filepath.Join(dir, "values"))
	const values, replaced, reads = 300, 3000, 300
	for i := range values {
		must.Do(t, f.Write(fmt.Sprint("v", i), value{}))
	}
	var writers sync.WaitGroup
	defer writers.Wait()
	for i := range 2 {
		writers.Go(func() {
			for n := range replaced {
				if err := f.Write(fmt.Sprint("v", (2*n+i)%values), value{n}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := range reads {
		all, err := All[value](f)
		if err != nil || len(all) != values {
			t.Fatalf("read %d: %d of %d values, %v", n, len(all), values, err)
		}
	}
}
