package machine

import (
	"strings"
	"testing"

	"rollcall/app/settings"
)

// What a command on another machine prints is read up to a limit: more of it is an error.
func TestOutputIsLimited(t *testing.T) {
	h := &Host{Machine: settings.Machine{Name: "box", Exec: []string{"head", "-c", "9000000", "/dev/zero"}}}
	if out, err := h.Output(t.Context()); err == nil || !strings.Contains(err.Error(), "printed more than 8 MB") {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}
