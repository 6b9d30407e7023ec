package corpus

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// stamp is how the agents write times.
const stamp = "2006-01-02T15:04:05.000Z"

const words = `the tests fail because \"cache\" was stale;\nso read it again and compare the sizes of both files — `

var text = strings.Repeat(words, 300)

// filler returns text of about n bytes, as it stands between quotes in JSON, that
// costs a parser what real text does: words, a quote and an escape now and then.
func filler(n int) string {
	return text[:max(1, min(n, len(text))/len(words))*len(words)]
}

// lines writes records to a transcript, one a line.
type lines struct {
	b *bufio.Writer
	n int
}

func (l *lines) put(format string, args ...any) {
	n, _ := fmt.Fprintf(l.b, format+"\n", args...) // bufio keeps the error for Flush
	l.n += n
}

// transcript makes the file of s at path, which says write's lines and was
// written last at the session's end.
func (w *writer) transcript(path string, s *session, write func(l *lines)) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	l := &lines{b: bufio.NewWriterSize(f, 256<<10)}
	write(l)
	if err := l.b.Flush(); err != nil {
		return err
	}
	w.wrote(path, s.start, int64(l.n))
	return os.Chtimes(path, s.end, s.end)
}

// file writes a small file, written last at that time.
func (w *writer) file(path string, at time.Time, format string, args ...any) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	data := fmt.Appendf(nil, format, args...)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	w.wrote(path, at, int64(len(data)))
	return os.Chtimes(path, at, at)
}

// wrote counts a file that was made at that time, and notes when its folder
// changed.
func (w *writer) wrote(path string, made time.Time, bytes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files++
	w.bytes += bytes
	for dir := filepath.Dir(path); len(dir) > len(w.home) && w.folders[dir].Before(made); dir = filepath.Dir(dir) {
		w.folders[dir] = made
	}
}

// ageFolders gives the folders the times that they would have.
func (w *writer) ageFolders() error {
	for dir, at := range w.folders {
		if err := os.Chtimes(dir, at, at); err != nil {
			return err
		}
	}
	return nil
}
