package claudecode

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"rollcall/adapters"
)

// file is a transcript file as the folder shows it.
type file struct {
	id, path, dir string
	info          fs.FileInfo
}

// listProject lists <session id>.jsonl in a project folder. Transcripts may be
// symbolic links; links says whether any entry is one. A file that vanishes
// meanwhile is left out.
func listProject(dir string) (files []file, odd int, links bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
		return nil, 0, false, nil
	}
	var problem error
	if err != nil {
		problem = adapters.Unreadable(dir, err)
	}
	for _, d := range entries {
		id, ok := strings.CutSuffix(d.Name(), ".jsonl")
		if !ok || d.IsDir() || strings.HasPrefix(id, "agent-") { // sub-agents and warm-ups of 2.0.x
			continue
		}
		if !isSessionID(id) {
			odd++
			continue
		}
		path := filepath.Join(dir, d.Name())
		links = links || d.Type()&fs.ModeSymlink != 0
		info, err := d.Info()
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			info, err = os.Stat(path)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			problem = adapters.Unreadable(path, err)
		case !info.Mode().IsRegular():
			odd++
		default:
			files = append(files, file{id: id, path: path, dir: dir, info: info})
		}
	}
	return files, odd, links, problem
}

// readers is how many files are read at once: a disk has to be kept busy.
const readers = 6

// parallel calls fn(0) to fn(n-1), several at a time, and waits.
func parallel(n int, fn func(i int)) {
	work := make(chan int)
	var wg sync.WaitGroup
	for range min(n, readers) {
		wg.Go(func() {
			for i := range work {
				fn(i)
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wg.Wait()
}
