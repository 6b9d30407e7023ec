//go:build linux

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// figures are what was measured.
type figures struct {
	Machine string   `json:"machine"`
	Version string   `json:"version"`
	Note    string   `json:"note,omitempty"`
	Date    string   `json:"date"`
	Rows    []figure `json:"rows"`
}

// figure is one row: the medians of several runs.
type figure struct {
	N       int    `json:"sessions"`
	Row     string `json:"row"`
	Name    string `json:"name"`
	Goal    string `json:"goal,omitempty"`
	Missing string `json:"missing,omitempty"` // why it was not measured

	Warm      sample `json:"warm"`
	Floor     sample `json:"floor"`
	Cold      sample `json:"cold"`
	ColdFloor sample `json:"cold_floor"`

	Peer        sample `json:"peer"`
	PeerName    string `json:"peer_name,omitempty"`
	PeerMissing string `json:"peer_missing,omitempty"`

	// Text is the result of a row that is no run of a program, such as latencies.
	Text string `json:"text,omitempty"`
	// Value is the number of Text that is compared, in the unit of Text; 0: none.
	Value float64 `json:"value,omitempty"`
}

func (f *figures) add(row figure) { f.Rows = append(f.Rows, row) }

// merge replaces the rows of f that o has too, and adds the others.
func (f *figures) merge(o *figures) {
	if len(o.Rows) == 0 {
		return
	}
	f.Machine = o.Machine
	f.Version = o.Version
	f.Date = o.Date
	f.Note = o.Note
	for _, row := range o.Rows {
		if i := f.index(&row); i >= 0 {
			f.Rows[i] = row
		} else {
			f.Rows = append(f.Rows, row)
		}
	}
	slices.SortStableFunc(f.Rows, func(a, b figure) int { return cmp.Compare(a.N, b.N) })
}

func (f *figures) index(row *figure) int {
	return slices.IndexFunc(f.Rows, func(x figure) bool { return x.N == row.N && x.Row == row.Row })
}

// readFigures reads the committed figures; none, if the file does not exist.
func readFigures(path string) (*figures, error) {
	var f figures
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &f, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &f, nil
}

func (f *figures) write(path string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	if err := e.Encode(f); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644) //nolint:gosec // a file of the repository
}

// machine describes the machine that measured: its processor and how many cores this program may use.
func machine() string {
	text := runtime.GOARCH
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				text = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores", text, runtime.NumCPU())
}

// ratio returns a/b as text: "2.3". It is empty if one of both was not measured.
func ratio(a, b time.Duration) string {
	if a <= 0 || b <= 0 {
		return ""
	}
	return number(float64(a) / float64(b))
}

func number(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// seconds shows a duration: "0.042 s", "83 s".
func seconds(d time.Duration) string {
	switch s := d.Seconds(); {
	case d <= 0:
		return ""
	case s >= 10:
		return fmt.Sprintf("%.0f s", s)
	case s >= 1:
		return fmt.Sprintf("%.1f s", s)
	default:
		return fmt.Sprintf("%.3f s", s)
	}
}

func bytesText(n int64) string {
	switch {
	case n <= 0:
		return ""
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MB", (n+1<<19)>>20)
}

// short is a row in one line, for the progress.
func (f *figure) short() string {
	switch {
	case f.Missing != "":
		return f.Missing
	case f.Text != "":
		return f.Text
	}
	text := fmt.Sprintf("%s, CPU %s, %s, floor × %s", seconds(f.Warm.Wall), seconds(f.Warm.CPU), bytesText(f.Warm.Memory), ratio(f.Warm.Wall, f.Floor.Wall))
	if f.Cold.Wall > 0 {
		text += ", cold " + seconds(f.Cold.Wall)
	}
	if f.PeerMissing != "" {
		text += ", " + f.PeerName + ": " + f.PeerMissing
	} else if f.Peer.Wall > 0 {
		text += fmt.Sprintf(", %s %s", f.PeerName, seconds(f.Peer.Wall))
	}
	return text
}
