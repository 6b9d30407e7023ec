package proc

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"rollcall/internal/must"
)

func TestParseStat(t *testing.T) {
	const tail = " 1 2 3 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 5 0 403845 0 0 18446744073709551615\n"
	for _, c := range []struct {
		name, in string
		want     stat
		dead     bool
	}{
		{"plain", "18063 (claude) S" + tail, stat{18063, "claude", 'S', 1, 3, 0, 5, 403845}, false},
		{"name like the end of one", "7 (a) S 1 (b) R" + tail, stat{7, "a) S 1 (b", 'R', 1, 3, 0, 5, 403845}, false},
		{"empty name", "7 () D" + tail, stat{7, "", 'D', 1, 3, 0, 5, 403845}, false},
		{"line break in the name", "7 (a\nb) I" + tail, stat{7, "a\nb", 'I', 1, 3, 0, 5, 403845}, false},
		{"bytes that are no text", "7 (\xff\x1b[2J) T" + tail, stat{7, "\xff\x1b[2J", 'T', 1, 3, 0, 5, 403845}, false},
		{"zombie", statLine(8, "z", 'Z', 9), stat{8, "z", 'Z', 1, 3, 0, 1, 9}, true},
		{"zombie first thread", "7 (z) Z" + tail, stat{7, "z", 'Z', 1, 3, 0, 5, 403845}, false},
		{"vanishing", statLine(8, "x", 'X', 9), stat{8, "x", 'X', 1, 3, 0, 1, 9}, true},
		{"latest start", "7 (a) S" + strings.Replace(tail, "403845", "18446744073709551615", 1), stat{7, "a", 'S', 1, 3, 0, 5, 1<<64 - 1}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseStat([]byte(c.in))
			if err != nil || got != c.want || got.dead() != c.dead {
				t.Errorf("got %+v (dead %v), %v; want %+v (dead %v)", got, got.dead(), err, c.want, c.dead)
			}
		})
	}
}

func TestParseStatRefuses(t *testing.T) {
	whole := statLine(7, "it", 'S', 42)
	end := strings.Index(whole, "42")
	for i := range end {
		if got, err := parseStat([]byte(whole[:i])); err == nil {
			t.Errorf("%q is taken for %+v", whole[:i], got)
		}
	}
	for _, in := range []string{
		"", "\n", "(it) S 1", "x (it) S 1 2 3", "-1 " + whole[2:], "0 " + whole[2:],
		strings.Replace(whole, "(it) S", "(it) SS", 1), strings.Replace(whole, " 42 ", " -42 ", 1),
		strings.Replace(whole, " 42 ", " 99999999999999999999 ", 1), strings.Replace(whole, ") S 1 ", ") S 1x ", 1), ")" + whole[3:] + "(",
	} {
		if got, err := parseStat([]byte(in)); err == nil {
			t.Errorf("%q is taken for %+v", in, got)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	own := must.Get(os.ReadFile("/proc/self/stat"))(f)
	f.Add(own)
	f.Add([]byte(statLine(7, "a) S 1 (b", 'Z', 42)))
	f.Add([]byte("7 (cut"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := parseStat(in)
		if err != nil {
			return
		}
		if s.pid <= 0 || !bytes.Contains(in, []byte("("+s.comm+")")) {
			t.Errorf("%q gives %+v", in, s)
		}
		// What was understood, written down as the kernel does, is understood again.
		again := fmt.Appendf(nil, "%d (%s) %c %d 2 %d %d -1 0 0 0 0 0 0 0 0 0 20 0 %d 0 %d 0\n",
			s.pid, s.comm, s.state, s.ppid, s.sid, s.terminal, s.threads, s.start)
		if got, err := parseStat(again); err != nil || got != s {
			t.Errorf("%q gives %+v, %v; want %+v", again, got, err, s)
		}
	})
}

func TestParseLock(t *testing.T) {
	for _, c := range []struct {
		line string
		file FileID
		pid  int
		ok   bool
	}{
		{"1: FLOCK  ADVISORY  WRITE 12345 08:01:123456 0 EOF\n", FileID{8, 1, 123456}, 12345, true},
		{"12: POSIX  ADVISORY  READ  7 fe:1f:99 128 1024", FileID{0xfe, 0x1f, 99}, 7, true},
		{"1: -> FLOCK  ADVISORY  WRITE 12345 08:01:123456 0 EOF", FileID{}, 0, false},
		{"2: OFDLCK ADVISORY  WRITE -1 08:01:123456 0 EOF", FileID{}, 0, false},
		{"3: FLOCK  ADVISORY  WRITE 0 08:01:123456 0 EOF", FileID{}, 0, false},
		{"4: LEASE  ACTIVE    READ  5 08:01:123456 0 EOF", FileID{}, 0, false},
		{"5: FLOCK  ADVISORY  WRITE 5 08:01", FileID{}, 0, false},
		{"6: FLOCK  ADVISORY  WRITE 5 zz:01:5 0 EOF", FileID{}, 0, false},
		{"", FileID{}, 0, false},
	} {
		file, pid, ok := parseLock(c.line)
		if ok != c.ok || ok && (file != c.file || pid != c.pid) {
			t.Errorf("%q: %+v held by %d, %v", c.line, file, pid, ok)
		}
	}
}
