package agentfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// split is what both readers have to agree with.
func split(data string, maxLine int) (lines []string, long int, partial string) {
	parts := strings.Split(data, "\n")
	partial = parts[len(parts)-1]
	for _, p := range parts[:len(parts)-1] {
		switch {
		case len(p) > maxLine:
			long++
		case p != "":
			lines = append(lines, p)
		}
	}
	return lines, long, partial
}

func checkBackward(t *testing.T, data string, maxLine int) {
	t.Helper()
	want, wantLong, partial := split(data, maxLine)
	if len(partial) > maxLine {
		wantLong++
	} else if partial != "" {
		want = append(want, partial)
	}
	var got []string
	tooLong := 0
	b := Backward(strings.NewReader(data), int64(len(data)), maxLine)
	defer b.Close() // the next reader finds this one's bytes in its buffer
	for first := true; ; first = false {
		line, offset, err := b.Prev()
		if errors.Is(err, io.EOF) {
			break
		}
		if b.Partial() != (first && partial != "") {
			t.Errorf("Partial() = %v at offset %d; the file's rest without newline is %q", b.Partial(), offset, partial)
		}
		var long *LongLine
		if errors.As(err, &long) {
			tooLong++
			checkLong(t, data, long, maxLine)
			if long.Offset != offset {
				t.Errorf("long line at %d told at %d", long.Offset, offset)
			}
			continue
		}
		must.Do(t, err)
		if !strings.HasPrefix(data[offset:], string(line)) {
			t.Errorf("line %q isn't at offset %d", line, offset)
		}
		got = append(got, string(line))
	}
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		t.Errorf("backward: %d lines, want %d", len(got), len(want))
	}
	if tooLong != wantLong {
		t.Errorf("backward: %d long lines, want %d", tooLong, wantLong)
	}
}

func checkLong(t *testing.T, data string, long *LongLine, maxLine int) {
	t.Helper()
	start, end := long.Offset, long.Offset+long.Length
	if long.Length <= int64(maxLine) || start > 0 && data[start-1] != '\n' || end < int64(len(data)) && data[end] != '\n' ||
		strings.Contains(data[start:end], "\n") {
		t.Errorf("long line told as %d+%d", start, long.Length)
	}
	if n := min(EndLen, int(long.Length)); len(long.Head) != n || len(long.Tail) != n ||
		!strings.HasPrefix(data[start:end], string(long.Head)) || !strings.HasSuffix(data[start:end], string(long.Tail)) {
		t.Errorf("the ends of the long line at %d are %d and %d bytes, and not its own", start, len(long.Head), len(long.Tail))
	}
}

func checkForward(t *testing.T, data string, maxLine int) {
	t.Helper()
	want, wantLong, partial := split(data, maxLine)
	var got []string
	next, stats, err := ForwardLong(t.Context(), strings.NewReader(data), 0, maxLine, func(line []byte, offset int64) error {
		if !strings.HasPrefix(data[offset:], string(line)+"\n") {
			t.Errorf("line %q isn't at offset %d", line, offset)
		}
		got = append(got, string(line))
		return nil
	}, func(long *LongLine) error {
		checkLong(t, data, long, maxLine)
		return nil
	})
	must.Do(t, err)
	if !slices.Equal(got, want) || stats.Lines != len(want) || stats.Long != wantLong {
		t.Errorf("forward: %d lines, %+v; want %d lines and %d long ones", len(got), stats, len(want), wantLong)
	}
	if wantNext := int64(len(data) - len(partial)); next != wantNext || stats.Partial != int64(len(partial)) {
		t.Errorf("next = %d, partial = %d; want %d, %d", next, stats.Partial, wantNext, len(partial))
	}
}

func TestReadersAgreeWithSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() string {
		var b strings.Builder
		for range r.IntN(40) {
			n := r.IntN(12)
			if r.IntN(8) == 0 {
				n = r.IntN(60_000)
			}
			b.WriteString(strings.Repeat(string(rune('a'+r.IntN(26))), n))
			if r.IntN(10) != 0 {
				b.WriteByte('\n')
			}
		}
		return b.String()
	}
	cases := []string{"", "\n", "\n\n", "a", "a\n", "\na", "a\nb", "a\n\nb\n",
		strings.Repeat("x", firstChunk), strings.Repeat("x", firstChunk-1) + "\n", strings.Repeat("x", firstChunk) + "\n",
		"a\n" + strings.Repeat("y", 3*lastChunk) + "\nb\n", strings.Repeat("z", 5*lastChunk)}
	for range 200 {
		cases = append(cases, random())
	}
	for _, data := range cases {
		for _, maxLine := range []int{5, 20_000, MaxLine} {
			checkBackward(t, data, maxLine)
			checkForward(t, data, maxLine)
		}
	}
}

// A reader that goes on from next after the file grew sees every line once,
// wherever the writer was cut off.
func TestForwardGoesOn(t *testing.T) {
	const data = "{\"a\":1}\n\n{\"b\":22}\n{\"c\":\"ü\"}\n"
	for cut := range len(data) {
		var got []string
		take := func(line []byte, _ int64) error { got = append(got, string(line)); return nil }
		next, _, err := Forward(t.Context(), strings.NewReader(data[:cut]), 0, 0, take)
		must.Do(t, err)
		_, _, err = Forward(t.Context(), strings.NewReader(data), next, 0, take)
		if err != nil {
			t.Fatal(err)
		}
		if want, _, _ := split(data, 100); !slices.Equal(got, want) {
			t.Errorf("cut at %d: %q", cut, got)
		}
	}
}

func TestForwardStopsWhereFnStopped(t *testing.T) {
	stop := fmt.Errorf("stop: %w", io.EOF) // not to be taken for the file's end
	next, stats, err := Forward(t.Context(), strings.NewReader("one\ntwo\nthree\n"), 0, 0, func(line []byte, _ int64) error {
		if string(line) == "two" {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || next != 4 || stats.Lines != 1 {
		t.Errorf("next = %d, %+v, %v", next, stats, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Forward(ctx, strings.NewReader("a\n"), 0, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Forward: %v", err)
	}
	if _, _, err := Backward(strings.NewReader("a\n"), 2, 0).WithContext(ctx).Prev(); !errors.Is(err, context.Canceled) {
		t.Errorf("Prev: %v", err)
	}
}

func TestFileCutShort(t *testing.T) {
	if _, _, err := Backward(strings.NewReader("abc\n"), 400, 0).Prev(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Prev on a file shorter than its size: %v", err)
	}
}

// A sparse file of 120 MB without a newline, and one line after it: the readers'
// memory stays bounded by the cap.
func TestManyMegabytesWithoutNewline(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 240 MB of holes")
	}
	path := filepath.Join(t.TempDir(), "sparse")
	f, err := os.Create(path)
	must.Do(t, err)
	defer f.Close()
	const hole = 120 << 20
	must.Get(f.WriteAt([]byte("\n{\"last\":true}\n"), hole))(t)
	b := Backward(f, hole+15, 1<<20)
	line, _, err := b.Prev()
	if err != nil || string(line) != `{"last":true}` {
		t.Fatalf("%q, %v", line, err)
	}
	var long *LongLine
	if _, _, err := b.Prev(); !errors.As(err, &long) || long.Endless || long.Length != hole || long.Offset != 0 {
		t.Fatalf("the hole: %v", err)
	}
	if _, _, err := b.Prev(); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if len(b.buf) > 8<<20 {
		t.Errorf("buffer of %d bytes", len(b.buf))
	}
	next, stats, err := Forward(t.Context(), f, 0, 1<<20, func(line []byte, _ int64) error {
		if !bytes.Equal(line, []byte(`{"last":true}`)) {
			t.Errorf("%q", line)
		}
		return nil
	})
	if err != nil || next != hole+15 || stats.Long != 1 || stats.Lines != 1 {
		t.Errorf("next = %d, %+v, %v", next, stats, err)
	}
}

func FuzzReaders(f *testing.F) {
	f.Add("a\nbb\n\nccc", 2)
	f.Add("\n\r\n", 0)
	f.Fuzz(func(t *testing.T, data string, maxLine int) {
		if maxLine <= 0 || maxLine > 1<<20 {
			maxLine = 3
		}
		checkBackward(t, data, maxLine)
		checkForward(t, data, maxLine)
	})
}

// counted counts the bytes that are read of a file.
type counted struct {
	io.ReaderAt
	bytes int64
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.bytes += int64(n)
	return n, err
}

// Of a line of 4 GB no more is read than tells that it is too long.
func TestLineWithoutEnd(t *testing.T) {
	const whole = 4 << 30
	f, err := os.Create(filepath.Join(t.TempDir(), "sparse"))
	if err == nil {
		defer f.Close()
		err = f.Truncate(whole)
	}
	must.Do(t, err)
	check := func(name string, c *counted, err error) {
		t.Helper()
		var long *LongLine
		if !errors.As(err, &long) || !long.Endless {
			t.Errorf("%s: %v", name, err)
		} else if words := long.Words(whole); !strings.HasPrefix(words, "a line of 4 GB or less: ") {
			t.Errorf("%s: %s", name, words)
		}
		if c.bytes > searchLimit+2*lastChunk {
			t.Errorf("%s: %d MB are read", name, c.bytes>>20)
		}
	}
	c := &counted{ReaderAt: f}
	_, _, err = Forward(t.Context(), c, 0, 0, func([]byte, int64) error { return nil })
	check("forward", c, err)
	c = &counted{ReaderAt: f}
	b := Backward(c, whole, 0)
	_, _, err = b.Prev()
	check("backward", c, err)
	if !b.Partial() {
		t.Error("the line has a newline")
	}
	if _, _, err := b.Prev(); !errors.Is(err, io.EOF) {
		t.Errorf("after it: %v", err)
	}
}

// Readers that are closed share their buffers: the list of a thousand files does not
// need one for each.
func TestBackwardBuffersAreUsedAgain(t *testing.T) {
	const readers = 1000
	data := strings.Repeat("a line of some length\n", 100)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range readers {
		b := Backward(strings.NewReader(data), int64(len(data)), 0)
		if line, _, err := b.Prev(); string(line) != "a line of some length" || err != nil {
			t.Fatalf("Prev() = %q, %v", line, err)
		}
		b.Close()
	}
	runtime.ReadMemStats(&after)
	// The race detector takes some of them away on purpose.
	if each := (after.TotalAlloc - before.TotalAlloc) / readers; each > firstChunk*2/3 {
		t.Errorf("a reader allocates %d bytes, the first buffer has %d", each, firstChunk)
	}
}
