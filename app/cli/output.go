package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// output collects what a command prints. The text is written in one piece at the end, so that a
// command that fails prints no half result.
type output struct {
	streams Streams
	getenv  func(string) string
	out     bytes.Buffer
}

// errReaderGone reports that the reader of the output has closed it.
var errReaderGone = errors.New("the output is no longer read")

func (o *output) printf(format string, args ...any) { fmt.Fprintf(&o.out, format, args...) }

// printIf is printf for a line that is there only if something holds.
func (o *output) printIf(holds bool, format string, args ...any) {
	if holds {
		o.printf(format, args...)
	}
}

// write writes what was printed so far. It returns errReaderGone where the output is
// no longer read.
func (o *output) write() error {
	defer o.out.Reset()
	if o.out.Len() == 0 {
		return nil
	}
	_, err := o.streams.Out.Write(o.out.Bytes())
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return errReaderGone
	}
	return err
}

// flush is write for commands that continue without a reader.
func (o *output) flush() error { return ignoreReaderGone(o.write()) }

// ignoreReaderGone returns err, or nil for errReaderGone: a reader such as head may stop reading, which is not a failure.
func ignoreReaderGone(err error) error {
	if errors.Is(err, errReaderGone) {
		return nil
	}
	return err
}

// warn prints a message for the user to Err, safe for a terminal.
func (o *output) warn(text string) { fmt.Fprintln(o.streams.Err, cleanLines("rollcall: "+text)) }

// cleanLines returns a text of several lines, safe for a terminal.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		lines[i] = indent + present.Line(line)
	}
	return strings.Join(lines, "\n")
}

// setColor applies the flag --color.
func (o *output) setColor(when string) error {
	switch when {
	case "always":
		o.streams.Color = true
	case "never":
		o.streams.Color = false
	case "auto":
		if o.getenv("NO_COLOR") != "" || o.getenv("TERM") == "dumb" {
			o.streams.Color = false
		}
	default:
		return usageError("--color must be auto, always or never, not %q", when)
	}
	return nil
}

// colored returns text in the colour of an SGR code, where the output shows colours.
func (o *output) colored(text, code string) string {
	if !o.streams.Color || text == "" || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// pad returns text with spaces up to a width in cells.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-present.Width(text), 0))
}

// align returns lines of a table whose columns are as wide as their widest cells, all but the first to the right if numbers is set. The first is cut where a
// terminal of width cells is too narrow; 0: nothing is cut.
func align(table [][]string, width int, numbers bool) (lines []string) {
	widths := make([]int, len(table[0]))
	for _, cells := range table {
		for i, cell := range cells {
			widths[i] = max(widths[i], present.Width(cell))
		}
	}
	if width > 0 {
		for _, w := range widths[1:] {
			width -= gap + w
		}
		widths[0] = max(min(widths[0], width), 12)
	}
	for _, cells := range table {
		line := pad(present.Cut(cells[0], widths[0]), widths[0])
		for i, cell := range cells[1:] {
			w := widths[i+1]
			line += strings.Repeat(" ", gap) + ifelse(numbers, strings.Repeat(" ", w-present.Width(cell))+cell, pad(cell, w))
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// errorText returns the text of an error; empty: there is none.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// path returns a path, safe for a terminal, with ~ for the user's home folder.
func (o *output) path(path string) string {
	path = present.Line(path)
	home := o.getenv("HOME")
	if home == "" || home == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, strings.TrimRight(home, "/")); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// json prints a document, safe for a terminal, and indented on one.
func (o *output) json(v any) error { return o.encode(v, o.streams.Width > 0) }

// encode prints a document, indented or in one line.
func (o *output) encode(v any, indented bool) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indented {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("cannot write JSON: %w", err)
	}
	escapeInvisible(&o.out, b.Bytes())
	return nil
}

// escapeInvisible writes JSON and escapes the characters that a terminal may obey
// although JSON allows them: DEL, the C1 controls, and those that reorder or hide text.
// A parser reads the same values.
func escapeInvisible(out *bytes.Buffer, text []byte) {
	out.Grow(len(text))
	start := 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf && text[i] != 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if present.Hidden(r) {
			out.Write(text[start:i])
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(out, `\u%04x`, unit)
			}
			start = i + n
		}
		i += n
	}
	out.Write(text[start:])
}

// Console returns the streams of this process.
func Console() Streams {
	attachConsole()
	s := Streams{Out: os.Stdout, Err: os.Stderr}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		s.In = os.Stdin
	}
	fd := int(os.Stdout.Fd())
	if !term.IsTerminal(fd) {
		return s
	}
	s.Color = enableColor(fd)
	s.Width = 80
	if width, _, err := term.GetSize(fd); err == nil && width > 0 {
		s.Width = width
	}
	return s
}

// progress is one line on a terminal that shows how far a command is. It is removed before the result is printed.
type progress struct {
	streams Streams
	shown   string
}

func (p *progress) show(line string) {
	if p.streams.Width > 0 && line != p.shown {
		p.shown = line
		fmt.Fprint(p.streams.Err, "\r\x1b[K"+present.Cut(line, max(p.streams.Width-1, 10)))
	}
}

func (p *progress) hide() {
	if p.shown != "" {
		p.shown = ""
		fmt.Fprint(p.streams.Err, "\r\x1b[K")
	}
}

// askWithProgress asks the adapters of cfg for the last time. On a terminal it shows which agents have not answered yet, once that takes long.
func askWithProgress(ctx context.Context, cfg app.Config, leftOut []adapters.Name, streams Streams) *app.Snapshot {
	o := app.Once{Last: true, LeftOut: leftOut}
	if streams.Width == 0 {
		return app.Ask(ctx, cfg, o)
	}
	var mu sync.Mutex
	line := progress{streams: streams}
	latest := ""
	long := false
	o.Progress = func(agents []adapters.Name, sessions int) {
		mu.Lock()
		defer mu.Unlock()
		latest = present.Reading(agents, sessions)
		if long {
			line.show(latest)
		}
	}
	timer := time.AfterFunc(present.ReadingAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		long = true
		line.show(latest)
	})
	snap := app.Ask(ctx, cfg, o)
	timer.Stop()
	mu.Lock()
	defer mu.Unlock()
	latest = "" // the timer may have begun already: it then shows nothing
	line.hide()
	return snap
}
