// Package screen reads what a coding agent shows on its screen. It imports nothing of Rollcall's, so that it shares no rule with an adapter:
// what it reads is the truth with which the harness compares the list.
//
// Beside the lock file of each pinned release lies a folder "screen": the file "signs" has the patterns, and a picture of each state, such as
// working.txt, shows what the release looked like when they were written. Who raises a release takes the pictures again: see internal/harness.
package screen

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// State is what an agent does by its screen. An empty State reports that no sign was found.
type State string

// The states that a screen can show.
const (
	Working    State = "working"
	Permission State = "permission" // it asks for one
	Question   State = "question"
	Idle       State = "idle"
	Plan       State = "plan" // it is idle, and asks what becomes of a plan
)

// States are all of them.
var States = []State{Working, Permission, Question, Idle, Plan}

// Signs are those of one release.
type Signs struct {
	signs []sign
	// Pictures are screens of the release, by state.
	Pictures map[State]string
}

type sign struct {
	state   State
	pattern *regexp.Regexp
}

// Load reads the signs and pictures of a release from its folder.
func Load(folder fs.FS) (*Signs, error) {
	text, err := fs.ReadFile(folder, "signs")
	if err != nil {
		return nil, err
	}
	s := &Signs{Pictures: map[State]string{}}
	for line := range strings.Lines(string(text)) {
		state, pattern, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found || strings.HasPrefix(state, "#") {
			continue
		}
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("signs: %w", err)
		}
		s.signs = append(s.signs, sign{State(state), compiled})
	}
	pictures, err := fs.Glob(folder, "*.txt")
	for _, name := range pictures {
		text, readErr := fs.ReadFile(folder, name)
		if readErr != nil {
			return nil, readErr
		}
		s.Pictures[State(strings.TrimSuffix(path.Base(name), ".txt"))] = string(text)
	}
	return s, err
}

// Read returns the state that a screen shows, by the first sign that one of its lines has, and that line.
func (s *Signs) Read(screen string) (State, string) {
	for _, one := range s.signs {
		for line := range strings.Lines(screen) {
			if one.pattern.MatchString(line) {
				return one.state, strings.TrimSpace(line)
			}
		}
	}
	return "", ""
}
