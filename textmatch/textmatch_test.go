package textmatch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"rollcall/internal/must"
)

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		pattern, text, want string
		regex               bool
	}{
		{pattern: "green", text: "make the build GREEN now", want: "GREEN"},
		{pattern: "GRÖSSE", text: "die größe, die Grösse", want: "Grösse"},
		{pattern: "привет", text: "ну ПРИВЕТ!", want: "ПРИВЕТ"},
		{pattern: "σας", text: "ΣΑΣ", want: "ΣΑΣ"},
		{pattern: "k", text: "5 \u212a or k", want: "k"}, // the Kelvin sign is a letter of its own
		{pattern: "会话", text: "一个会话。", want: "会话"},
		{pattern: "a\nb", text: "x A\nB y", want: "A\nB"},
		{pattern: `say "hi"`, text: `I SAY "Hi" twice`, want: `SAY "Hi"`},
		{pattern: "none", text: "non"},
		{pattern: `time(out|r)$`, text: "a TIMEOUT\nnext", want: "TIMEOUT", regex: true},
		{pattern: `^b.`, text: "ab\nBc", want: "Bc", regex: true},
	} {
		p := mustPattern(t, tt.pattern, tt.regex)
		start, end, ok := p.Find(tt.text)
		if got := tt.text[start:end]; got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q in %q: %q, %v", tt.pattern, tt.text, got, ok)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, bad := range []string{"", "\xff"} {
		if _, err := Text(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	for _, bad := range []string{"", "(", "a*", "^", "\xff", "a)|(b"} {
		if _, err := Regexp(bad); err == nil || strings.Contains(err.Error(), "(?im") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Parts of an expression that count up to its end, such as a quotation, need no end of their own.
func TestOpenQuotation(t *testing.T) {
	p := must.Get(Regexp(`\Qa.b`))(t)
	if start, end, ok := p.Find("axb A.B"); start != 4 || end != 7 || !ok {
		t.Error(start, end, ok)
	}
}

func mustPattern(t testing.TB, text string, regex bool) *Pattern {
	t.Helper()
	compile := Text
	if regex {
		compile = Regexp
	}
	p, err := compile(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return p
}

func TestExcerpt(t *testing.T) {
	text := "first\n\t  the line with it and more  \r\nlast"
	start := strings.Index(text, "with")
	if got, want := Excerpt(text, start, start+4, 100), (Part{"the line ", "with", " it and more"}); got != want {
		t.Errorf("%+v", got)
	}
	if got, want := Excerpt("ééééX", 8, 9, 5), (Part{"…éé", "X", ""}); got != want {
		t.Errorf("%+v", got)
	}
	if got, want := Excerpt("XXXXXéé", 0, 5, 3), (Part{"", "XXX…", "é…"}); got != want {
		t.Errorf("%+v", got)
	}
}

// alphabet has what is written in several ways: letters with cases of the same length and
// of other lengths, what JSON escapes, and what is beyond 16 bits.
var alphabet = []rune("aAbBkKsSzZ eE\"\\/\n\t\x01\x7f{}[]:,éÉßẞſKİıσςΣдД会\u2028\u202e\ufeff😀𐐀𐐨\ufffd")

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n) {
		b.WriteRune(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// encode writes a text as JSON may have it: each character as it is or as an escape.
func encode(r *rand.Rand, text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		must := c == '"' || c == '\\' || c < 0x20
		switch {
		case c == '\n' && r.IntN(2) == 0:
			b.WriteString(`\n`)
		case must && c >= 0x20 || c == '/' && r.IntN(3) == 0:
			b.WriteString(`\` + string(c))
		case must || r.IntN(12) == 0:
			format := []string{`\u%04x`, `\u%04X`}[r.IntN(2)]
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&b, format, unit)
			}
		default:
			b.WriteRune(c)
		}
	}
	return b.String() + `"`
}

// Every line with the text is handed out, whatever escapes it is written in, wherever the
// reads end; and lines come as they are, with their places.
func TestLinesFindsAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var file strings.Builder
		var texts []string
		for range 1 + r.IntN(6) {
			text := randomText(r, 30)
			texts = append(texts, text)
			fmt.Fprintf(&file, `{"t":%s}`+"\n", encode(r, text))
			if r.IntN(5) == 0 {
				file.WriteString("\n")
			}
		}
		content := file.String()
		if r.IntN(2) == 0 {
			content = strings.TrimRight(content, "\n")
		}
		needle := randomText(r, 6)
		if from := []rune(texts[r.IntN(len(texts))]); r.IntN(2) == 0 && len(from) > 0 {
			at := r.IntN(len(from))
			needle = string(from[at:min(len(from), at+1+r.IntN(5))])
		}
		if needle == "" {
			continue
		}
		p := mustPattern(t, needle, false)
		if r.IntN(4) == 0 {
			p = mustPattern(t, strings.NewReplacer(`\`, `\\`, "[", `\[`, "{", `\{`).Replace(needle)+"x?", true)
		}
		hold(t, p, content, needle)
	}
}

// hold compares the lines that Lines hands out and that have the pattern with all lines
// that have it.
func hold(t *testing.T, p *Pattern, content, needle string) {
	t.Helper()
	decode := func(line string) bool {
		var v struct{ T string }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		_, _, ok := p.Find(v.T)
		return ok
	}
	var want, got []string
	offset := 0
	for line := range strings.SplitAfterSeq(content, "\n") {
		if bare := strings.TrimSuffix(line, "\n"); bare != "" && decode(bare) {
			want = append(want, fmt.Sprint(offset, bare))
		}
		offset += len(line)
	}
	for _, reader := range []io.Reader{strings.NewReader(content), iotest.OneByteReader(strings.NewReader(content)), iotest.DataErrReader(strings.NewReader(content))} {
		got = nil
		long, err := p.Lines(t.Context(), reader, nil, func(line []byte, at int64) error {
			if decode(string(line)) {
				got = append(got, fmt.Sprint(at, string(line)))
			}
			return nil
		})
		if err != nil || long > 0 || !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, want %q (%v)", needle, got, want, err)
		}
	}
}

func TestIndexEscape(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for round := range 20_000 {
		length, spread := 40, 8
		if round%20 == 0 { // several stretches, with few backslashes and u's or with many
			length, spread = 5000, []int{8, 30, 300, 3000}[r.IntN(4)]
		}
		b := make([]byte, r.IntN(length))
		for i := range b {
			b[i] = "\\uvt]x\x00\xff"[min(r.IntN(spread), 7)]
			if length > 40 && b[i] == 'u' && r.IntN(100) > 0 {
				b[i] = 'n'
			}
		}
		from := r.IntN(len(b) + 1)
		want := strings.Index(string(b[from:]), `\u`)
		if want >= 0 {
			want += from
		}
		if got := indexEscape(b, from); got != want {
			t.Fatalf("%q from %d: %d, want %d", b, from, got, want)
		}
	}
}

// repeated reads a piece many times, then an end.
type repeated struct {
	piece string
	n     int
	end   string
}

func (r *repeated) Read(b []byte) (int, error) {
	switch {
	case r.n > 0:
		r.n--
		return copy(b, r.piece[:min(len(r.piece), len(b))]), nil
	case r.end != "":
		n := copy(b, r.end)
		r.end = r.end[n:]
		return n, nil
	}
	return 0, io.EOF
}

// A line of twelve times MaxLine is not held. It is counted if it can contain the text, also where the
// text lies across two reads.
func TestLongLine(t *testing.T) {
	const piece = 64 << 10
	for _, tt := range []struct {
		name, end string
		long      int
		after     int
	}{
		{"with it at its end", "needle\nneedle\n", 1, 1},
		{"without", "\nneedle\n", 0, 1},
		{"unfinished", "needle", 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mustPattern(t, "NEEDLE", false)
			r := &repeated{piece: strings.Repeat("x", piece), n: 12 * MaxLine / piece, end: tt.end}
			found := 0
			var long int
			var err error
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			long, err = p.Lines(t.Context(), r, nil, func(line []byte, _ int64) error {
				if len(line) > MaxLine {
					t.Errorf("a line of %d bytes", len(line))
				}
				found++
				return nil
			})
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			if err != nil || long != tt.long || found != tt.after || allocated > 3*MaxLine {
				t.Errorf("%d long, %d found, %v bytes allocated, %v", long, found, allocated, err)
			}
		})
	}
}

func TestLinesEnds(t *testing.T) {
	p := mustPattern(t, "a", false)
	ctx, cancel := context.WithCancel(t.Context())
	r := &repeated{piece: strings.Repeat("a\n", 1000), n: 1 << 30}
	lines := 0
	_, err := p.Lines(ctx, r, nil, func([]byte, int64) error {
		if lines++; lines == 5000 {
			cancel()
		}
		return nil
	})
	if err != context.Canceled { //nolint:errorlint // it is returned as it is
		t.Errorf("%v after %d lines", err, lines)
	}
}

func FuzzLines(f *testing.F) {
	f.Add("needle", "a needle", uint64(1))
	f.Add("é\"", "x É\" y", uint64(2))
	f.Fuzz(func(t *testing.T, needle, text string, seed uint64) {
		p, err := Text(needle)
		if err != nil || !json.Valid([]byte(`"x"`)) || strings.ToValidUTF8(text, "") != text {
			return
		}
		r := rand.New(rand.NewPCG(seed, 0))
		hold(t, p, fmt.Sprintf(`{"t":%s}`+"\n"+`{"t":"other"}`, encode(r, text)), needle)
	})
}
