package pistore

import (
	"strconv"
	"strings"

	"rollcall/adapters"
)

// sequence returns the counter in an id of Pi (1.5.2). The counter begins at a random
// number in each process and grows by one with each id.
func sequence(id string) (n uint64, ok bool) {
	hex := strings.ReplaceAll(id, "-", "")
	if len(id) != 36 || len(hex) != 32 || hex[12] != '7' {
		return 0, false
	}
	part := func(from, to int) uint64 {
		v, err := strconv.ParseUint(hex[from:to], 16, 64)
		ok = ok && err == nil
		return v
	}
	ok = true
	n = part(13, 16)<<29 | (part(16, 18)&0x3f)<<23 | part(18, 20)<<15 | part(20, 22)<<7 | part(22, 24)>>1
	return n, ok
}

// idRange is the largest number of ids that a process may create between two sessions. The
// probability that the ids of two processes begin this close is one in a hundred million.
const idRange = 4096

// isSameProcess reports whether one process made both sessions, a first and b later.
func isSameProcess(a, b *session) bool {
	m, ok1 := sequence(a.id)
	n, ok2 := sequence(b.id)
	if !ok1 || !ok2 || a.at.Equal(b.at) {
		return false
	}
	if b.at.Before(a.at) {
		m, n = n, m
	}
	return n > m && n-m < idRange
}

// writer returns the agent that a session belongs to. For a file that does not show it, the process that has the session decides. Every other
// session is Pi's.
func (s *session) writer() adapters.Name {
	switch w := s.recorded(); {
	case w != "":
		return w
	case s.owner != nil:
		return s.owner.agent
	}
	return Pi
}

// recorded returns the agent that began a session, and "" where its file does not show it. pi_agent_rust names files by the first 8
// characters of the id; Pi names files by the whole id. For a file with another name the header decides.
func (s *session) recorded() adapters.Name {
	switch {
	case s.certain() != "":
		return s.certain()
	case s.shortLabel && s.id != s.label && strings.HasPrefix(s.id, s.label), s.isRust:
		return PiRust
	case s.label != "" && s.label == s.id:
		return Pi
	}
	return ""
}

// certain returns the writer if the file's name alone shows it, and "" otherwise.
func (f *file) certain() adapters.Name {
	if wholeID.MatchString(f.label) {
		return Pi
	}
	return ""
}

// guess returns the likely writer of a file that could not be read.
func (f *file) guess() adapters.Name {
	if f.shortLabel {
		return PiRust
	}
	return Pi
}
