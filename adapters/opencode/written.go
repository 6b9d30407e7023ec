package opencode

import (
	"bytes"
	"io"

	"rollcall/proc"
)

// writtenBy finds the runs whose lines a process wrote last. Usually it is one;
// none where nothing can be known, as on systems other than Linux.
func (a *Adapter) writtenBy(id proc.Identity, log string) []string {
	ends, err := a.table.Appended(id, log)
	if err != nil || len(ends) == 0 {
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
