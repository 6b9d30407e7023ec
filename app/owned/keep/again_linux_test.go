package keep

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// A hook and a fuse that are to be run again after a crash are, once the next command starts a keeper, where nothing else is to be kept.
func TestRunAgainAfterCrash(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	const script = `echo $$ >> /tmp/%; [ -e /tmp/go ] || sleep 100`
	once := func(what string) string { return strings.ReplaceAll(script, "%", what) }
	for _, what := range []string{"hook", "fuse"} {
		if what == "hook" {
			w.write("/tmp/end", "0")
			w.done("launch", "codex", "-p", "x", "--cwd", "/tmp/work", "--on-complete", once(what), "--retry-hooks")
		} else {
			w.done("fuse", "set", "/tmp/other", "--in", "20ms", "--script", once(what), "--retry")
		}
		runs := func() []string { return strings.Fields(w.read("/tmp/" + what)) }
		w.until("first run of the "+what, func() bool { return len(runs()) == 1 })
		w.kill(w.keepers()[0].PID)
		pid, err := strconv.Atoi(runs()[0])
		w.check(err)
		w.kill(pid)
		w.write("/tmp/go", "")
		w.done("list")
		w.until("second run of the "+what, func() bool { return len(runs()) == 2 })
		w.until("result of the "+what, func() bool { s := w.status(); return s.Hooks == 0 && s.Fuses == 0 && s.Launches == 0 })
		w.done("list")
		if got := runs(); len(got) != 2 {
			t.Errorf("the %s ran %d times", what, len(got))
		}
		for _, k := range w.keepers() {
			w.kill(k.PID)
		}
		w.check(os.Remove("/tmp/go"))
	}
}
