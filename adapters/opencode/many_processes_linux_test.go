package opencode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
)

// fileCrowd writes a JSON store, as 1.1 left it, of that many sessions: one is
// written each hour up to the given moment, with 33 messages and 66 parts each,
// and as many files. Folders carry the time at which the store was copied here.
func fileCrowd(t testing.TB, sessions int, now time.Time) *store {
	t.Helper()
	s := newHome(t)
	rng := rand.New(rand.NewPCG(1, 2))
	folder := func(parts ...string) string {
		path := filepath.Join(append([]string{s.data, "storage"}, parts...)...)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put := func(at time.Time, path, format string, args ...any) {
		if err := os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for i := range sessions {
		ended := now.Add(-time.Duration(i) * time.Hour)
		began := ended.Add(-33 * time.Second)
		id := stampedID("ses", began, rng, true)
		put(ended, filepath.Join(folder("session", fmt.Sprintf("p%d", i%20)), id+".json"),
			`{"id":%q,"directory":"/home/dev/p","title":"Task %d","version":"1.1.65","time":{"created":%d,"updated":%d}}`,
			id, i, began.UnixMilli(), began.UnixMilli())
		messages := folder("message", id)
		for n := range 33 {
			at := began.Add(time.Duration(n) * time.Second)
			message := stampedID("msg", at, rng, false)
			role, more := "assistant", fmt.Sprintf(`,"completed":%d},"finish":"stop","modelID":"mock-1","providerID":"mock","tokens":{"input":10,"output":3,"reasoning":0,"cache":{"read":100,"write":0}}`, at.UnixMilli())
			if n%11 == 0 {
				role, more = "user", "}"
			}
			put(at, filepath.Join(messages, message+".json"), `{"id":%q,"role":%q,"time":{"created":%d%s}`, message, role, at.UnixMilli(), more)
			parts := folder("part", message)
			for range 2 {
				part := stampedID("prt", at, rng, false)
				put(at, filepath.Join(parts, part+".json"), `{"id":%q,"type":"text","text":"words %d"}`, part, n)
			}
		}
	}
	return s
}

// stampedID is an id of OpenCode's: the time, for sessions descending, and chance.
func stampedID(kind string, at time.Time, rng *rand.Rand, descending bool) string {
	n := uint64(at.UnixMilli())*0x1000 + rng.Uint64N(0x1000)
	if descending {
		n = ^n
	}
	return fmt.Sprintf("%s_%012xAbCdEf%08x", kind, n&(1<<48-1), rng.Uint32())
}

// opens counts how often the files below some folders are opened, from now on.
type opens struct {
	fd     int
	folder map[int32]string
}

func countOpens(t *testing.T, root string) *opens {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	o := &opens{fd: fd, folder: map[int32]string{}}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		watch, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN)
		o.folder[int32(watch)] = path
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// since returns the number of files that were opened since the last call, by the
// name of the folder of storage that they lie in.
func (o *opens) since(t *testing.T, storage string) map[string]int {
	t.Helper()
	count := map[string]int{}
	buffer := make([]byte, 1<<16)
	for {
		n, err := unix.Read(o.fd, buffer)
		if errors.Is(err, unix.EAGAIN) {
			return count
		}
		if err != nil {
			t.Fatal(err)
		}
		for b := buffer[:n]; len(b) > 0; {
			watch, mask := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:])
			switch path, _ := filepath.Rel(storage, o.folder[watch]); {
			case mask&unix.IN_Q_OVERFLOW != 0:
				t.Fatal("more files were opened than could be counted")
			case mask&unix.IN_ISDIR == 0:
				kind, _, _ := strings.Cut(path, "/")
				count[kind]++
			}
			b = b[unix.SizeofInotifyEvent+binary.NativeEndian.Uint32(b[12:]):]
		}
	}
}

// Of a store that was copied here, so that all of its folders and files are new,
// only what the wanted sessions need is read, and nothing again.
func TestFilesReadOnlyWhatIsWanted(t *testing.T) {
	const sessions, wanted = 60, 10
	now := time.Now()
	for name, copied := range map[string]bool{"in place": false, "copied": true} {
		t.Run(name, func(t *testing.T) {
			s := fileCrowd(t, sessions, now)
			storage := filepath.Join(s.data, "storage")
			if copied {
				err := filepath.WalkDir(storage, func(path string, _ fs.DirEntry, err error) error {
					return errors.Join(err, os.Chtimes(path, now, now))
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			since := now.Add(-(wanted*time.Hour - 30*time.Minute))
			a := alone(s)
			o := countOpens(t, storage)
			got, _, err := asked(t, a, adapters.Query{Since: since})
			if err != nil || len(got) != wanted {
				t.Fatalf("%d sessions, want %d: %v", len(got), wanted, err)
			}
			reads := o.since(t, storage)
			// A copy's files say nothing: of a day more the messages are needed.
			most := wanted
			if copied {
				most = wanted + 24
			}
			if reads["session"] > sessions+most || reads["message"] > most*33 || reads["part"] > most*4 {
				t.Errorf("opened %v", reads)
			}
			if again, _, err := asked(t, a, adapters.Query{Since: since}); err != nil || len(again) != wanted {
				t.Errorf("%d sessions, %v", len(again), err)
			}
			if reads := o.since(t, storage); len(reads) > 0 {
				t.Errorf("opened again, although nothing changed: %v", reads)
			}
			if all, _, err := asked(t, a, adapters.Query{}); err != nil || len(all) != sessions {
				t.Errorf("%d sessions in all, %v", len(all), err)
			}
			o.since(t, storage)
			if live, _, err := asked(t, a, adapters.Query{Since: now.Add(time.Hour)}); err != nil || len(live) > 0 {
				t.Errorf("%d live sessions, %v", len(live), err)
			}
			if reads := o.since(t, storage); len(reads) > 0 {
				t.Errorf("opened for live sessions: %v", reads)
			}
		})
	}
}
