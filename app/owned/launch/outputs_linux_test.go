package launch

import (
	"slices"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// TestOutputs: the output of a launch has the home that its agent uses; a launch of before this was recorded, and one on another machine, do not.
func TestOutputs(t *testing.T) {
	s := newStage(t, &fake{})
	started := s.start(func(r *Request) { r.Task.Home = "/work" })
	own := adapters.Output{Path: started.Record.Log, Home: "/work"}
	older, elsewhere := started.Record, started.Record
	older.ID, older.Home = "l-0000000001", ""
	elsewhere.ID = "l-0000000002"
	elsewhere.Host = "elsewhere"
	elsewhere.Space = "elsewhere"
	must.Do(t, s.records.Write(older.ID, older))
	must.Do(t, s.records.Write(elsewhere.ID, elsewhere))
	got := s.Outputs(s.Name())
	if len(got) != 2 || !slices.Contains(got, own) || !slices.Contains(got, adapters.Output{Path: s.logFile(older.ID)}) {
		t.Errorf("%+v", got)
	}
	if got := s.Outputs("another"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
