package kit

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Watch keeps the folders to watch until the next question. It is safe for concurrent
// use.
type Watch struct {
	mu      sync.Mutex
	folders []string
}

// Set replaces the folders with those of paths that are folders.
func (w *Watch) Set(paths []string) {
	folders := Folders(paths)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.folders = folders
}

// Add adds a folder until the next Set.
func (w *Watch) Add(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.folders = AppendNew(w.folders, path)
}

// Folders returns the folders.
func (w *Watch) Folders() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.folders)
}

// Folders returns the paths that are folders now, each once.
func Folders(paths []string) []string {
	var folders []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			folders = AppendNew(folders, path)
		}
	}
	return folders
}

// AppendNew returns list with the values appended that are not empty and not in the
// list yet.
func AppendNew(list []string, more ...string) []string {
	for _, s := range more {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// Span returns a duration in one unit, as people write it: "3 s", "5 min". A negative
// duration is 0 s.
func Span(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// Clock returns a time of day, with the date where that is more than 12 hours from
// now, in the time zone of now.
func Clock(t, now time.Time) string {
	if t.IsZero() {
		return "some time ago"
	}
	t = t.In(now.Location())
	if age := now.Sub(t); age > 12*time.Hour || age < -12*time.Hour {
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("15:04:05")
}

// Quoted returns a text of an agent in parentheses, cut to 120 characters, and "" for
// an empty text.
func Quoted(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" (%.120s)", strings.ToValidUTF8(text, ""))
}

// If returns a text if something is true, and "" otherwise.
func If(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// PlainWord returns the letters, digits, - and _ of an untrusted name, at most 40 of
// them. Names of record types, roles and tools consist of these.
func PlainWord(s string) string {
	b := make([]byte, 0, 40)
	for i := 0; i < len(s) && len(b) < 40; i++ {
		if c := s[i]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			b = append(b, c)
		}
	}
	return string(b)
}
