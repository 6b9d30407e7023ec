package adaptertest

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"rollcall/proc"
)

// Recording is a replayed recording. It lives in the test's temporary folder and
// may be changed by the test.
type Recording struct {
	Home       string      // a writable copy of home/
	ProcRoot   string      // what stands for /proc
	EtcRoot    string      // what stands for /etc
	Table      *proc.Table // reads ProcRoot and EtcRoot
	Expect     Expectation
	CapturedAt time.Time // the moment of the recording: an adapter's "now"

	recordedHome string
}

// Env is an environment in which the program itself reads the recording.
func Env(r *Recording) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TZ=UTC",
		"HOME=" + r.Home, "HOST_PROC=" + r.ProcRoot, "HOST_ETC=" + r.EtcRoot,
	}
}

// Path translates a recorded path of an agent's own storage into the copy; any
// other path is returned as it is.
func (r *Recording) Path(recorded string) string {
	rest, ok := strings.CutPrefix(recorded, r.recordedHome+"/")
	if ok && strings.HasPrefix(rest, ".") {
		return filepath.Join(r.Home, rest)
	}
	return recorded
}
