package app

import (
	"errors"

	"rollcall/adapters"
)

// Format says whether what an agent wrote was recognised. A changed format shows
// here before it can make a status wrong.
type Format string

// The answers; empty: nothing was read that could tell.
const (
	Recognised   Format = "recognised"
	Partly       Format = "partly"       // some records or files were passed over, see Health.Skipped
	Unrecognised Format = "unrecognised" // whole files were, see Health.Problems
)

// String is the format in words for people.
func (f Format) String() string {
	switch f {
	case Partly:
		return "recognised in part"
	case Unrecognised:
		return "not recognised"
	}
	return string(f)
}

// formatOf is what an answer tells of the agent's format.
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
