package proc

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// stat holds the fields of /proc/PID/stat that Rollcall needs.
type stat struct {
	pid      int
	comm     string
	state    byte
	ppid     int
	sid      int
	terminal int // device number
	threads  int
	start    uint64 // clock ticks since boot
}

// The fields after the comm, by their index. The number of a field in proc(5) is 3
// more.
const (
	fieldState    = 0
	fieldPPID     = 1
	fieldSID      = 3
	fieldTerminal = 4
	fieldThreads  = 17
	fieldStart    = 19
)

var errStat = errors.New("not in the form of proc(5)")

// readStat reads and parses a stat file.
func readStat(dir int, path string) (stat, error) {
	var buffer [4096]byte
	n, err := readAt(dir, path, buffer[:])
	if err != nil {
		return stat{}, err
	}
	return parseStat(buffer[:n])
}

// parseStat parses the contents of /proc/PID/stat. A comm may contain any character,
// also spaces, parentheses and line breaks: it ends at the last parenthesis.
func parseStat(b []byte) (stat, error) {
	left, right := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if left < 1 || right < left {
		return stat{}, fmt.Errorf("%w: no name in parentheses", errStat)
	}
	s := stat{comm: string(b[left+1 : right])}
	var err error
	s.pid, err = strconv.Atoi(string(bytes.TrimSpace(b[:left])))
	if err != nil || s.pid <= 0 {
		return stat{}, fmt.Errorf("%w: bad pid", errStat)
	}
	numbers := [fieldStart]*int{fieldPPID: &s.ppid, fieldSID: &s.sid, fieldTerminal: &s.terminal, fieldThreads: &s.threads}
	rest := b[right+1:]
	for i := 0; i <= fieldStart; i++ {
		var field []byte
		field, rest = nextField(rest)
		if len(field) == 0 {
			return stat{}, fmt.Errorf("%w: only %d fields after the name", errStat, i)
		}
		switch {
		case i == fieldState:
			if len(field) != 1 || !isLetter(field[0]) {
				return stat{}, fmt.Errorf("%w: bad state", errStat)
			}
			s.state = field[0]
		case i == fieldStart:
			s.start, err = strconv.ParseUint(string(field), 10, 64)
			if err != nil {
				return stat{}, fmt.Errorf("%w: bad start time", errStat)
			}
		case numbers[i] != nil:
			*numbers[i], err = strconv.Atoi(string(field))
			if err != nil {
				return stat{}, fmt.Errorf("%w: field %d is not a number", errStat, i+3)
			}
		}
	}
	return s, nil
}

func isLetter(c byte) bool { return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' }

// dead reports whether the process is a zombie or about to vanish. A process whose
// first thread has ended while others run shows Z as well, but it lives: the
// kernel reports its end (pidfd) only after the last thread.
func (s *stat) dead() bool {
	switch s.state {
	case 'Z', 'X', 'x':
		return s.threads <= 1
	}
	return false
}

// nextField cuts the first blank-separated field off b.
func nextField(b []byte) (field, rest []byte) {
	start := 0
	for start < len(b) && (b[start] == ' ' || b[start] == '\n') {
		start++
	}
	end := start
	for end < len(b) && b[end] != ' ' && b[end] != '\n' {
		end++
	}
	return b[start:end], b[end:]
}
