package app

import (
	"errors"

	"rollcall/adapters"
)

// Format describes whether Rollcall recognised an agent's files. A format that changed
// shows here before it can make a status wrong.
type Format string

// The values of Format; empty: no file was read.
const (
	Recognised   Format = "recognised"
	Partly       Format = "partly"       // some records or files were skipped, see Health.Skipped
	Unrecognised Format = "unrecognised" // whole files were not recognised, see Health.Problems
)

// String returns the format in words for people.
func (f Format) String() string {
	switch f {
	case Partly:
		return "recognised in part"
	case Unrecognised:
		return "not recognised"
	}
	return string(f)
}

// formatOf returns the format of the files that an answer was read from.
func formatOf(a answer) Format {
	switch {
	case errors.Is(a.Err, adapters.ErrFormat):
		return Unrecognised
	case len(a.roll.Skipped) > 0:
		return Partly
	case len(a.roll.Sessions) > 0:
		return Recognised
	}
	return ""
}
