package launch

import (
	"errors"
	"testing"
)

// An agent that can't be read for a moment: what it listed is stale, and nothing
// takes its place.
func TestLaunchedSessionGoesStale(t *testing.T) {
	s := newStage(t, &fake{})
	tr := s.tray()
	s.start(nil)
	s.until("the session", func() bool { return s.only().Seen })
	s.fail.Store(errors.New("no answer"))
	list := tr.list(t.Context())
	if len(list) != 1 || list[0].Stale == nil || list[0].Evidence != "its file" {
		t.Errorf("listed %+v", list)
	}
}
