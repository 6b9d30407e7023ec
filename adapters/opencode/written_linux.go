package opencode

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"rollcall/proc"
)

// writtenBy finds the runs whose lines a process wrote last: the kernel keeps where
// the last write of each of its descriptors ended, and a descriptor for appending
// is moved by nothing else. Usually it is one; none where nothing can be known.
func (a *Adapter) writtenBy(id proc.Identity, log string) []string {
	ends := appended(filepath.Join(first(a.env("HOST_PROC"), "/proc"), strconv.Itoa(id.PID)), log)
	if len(ends) == 0 || !a.table.Alive(id) {
		return nil
	}
	f, err := openFile(log)
	if err != nil {
		return nil
	}
	defer f.Close()
	var runs []string
	for _, end := range ends {
		runs = appendNew(runs, runBefore(f, end))
	}
	return runs
}

// appended returns where the writes to a file ended, the latest first.
func appended(process, path string) []int64 {
	entries, err := os.ReadDir(filepath.Join(process, "fd"))
	if err != nil {
		return nil
	}
	var ends []int64
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(process, "fd", e.Name()))
		if err != nil || target != path {
			continue
		}
		info, err := os.ReadFile(filepath.Join(process, "fdinfo", e.Name()))
		if err != nil {
			continue
		}
		if end := appendedTo(info); end > 0 {
			ends = append(ends, end)
		}
	}
	slices.Sort(ends)
	slices.Reverse(ends)
	return ends
}

// appendedTo reads the position of a descriptor; 0 for one that is not for
// appending, or has written nothing.
func appendedTo(info []byte) int64 {
	var pos, flags int64
	for line := range bytes.Lines(info) {
		key, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
		word := string(bytes.TrimSpace(value))
		switch string(key) {
		case "pos":
			pos, _ = strconv.ParseInt(word, 10, 64)
		case "flags":
			flags, _ = strconv.ParseInt(word, 8, 64)
		}
	}
	if flags&int64(os.O_APPEND) == 0 {
		return 0
	}
	return pos
}

// runBefore is the run of the line of a shared log that ends at an offset; "" when
// none ends there, as in a log that was cut since.
func runBefore(f io.ReaderAt, end int64) string {
	for _, size := range []int64{4 << 10, 64 << 10, maxLine} {
		size = min(size, end)
		b := make([]byte, size)
		if n, err := f.ReadAt(b, end-size); int64(n) != size || err != nil && n == 0 {
			return ""
		}
		line, whole := bytes.CutSuffix(b, []byte("\n"))
		if !whole {
			return ""
		}
		begin := bytes.LastIndexByte(line, '\n')
		if begin < 0 && size < end {
			continue
		}
		runs := map[string]*run{}
		sharedLine(runs, line[begin+1:])
		for id := range runs {
			return id
		}
		return ""
	}
	return ""
}
