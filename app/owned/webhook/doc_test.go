package webhook

import (
	"testing"

	"rollcall/internal/doctest"
)

func TestDocumented(t *testing.T) {
	doctest.SameKeys(t, "json.md", "session.stopped", Payload{})
	doctest.SameKeys(t, "json.md", "session.waiting", WaitingPayload{})
}
