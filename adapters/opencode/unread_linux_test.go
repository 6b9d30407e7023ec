package opencode

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// Without the log, which alone names the process of a session of another folder, no turn has died.
func TestUnreadLog(t *testing.T) {
	r := killedInTurn(t, time.Now().Add(-time.Minute))
	r.exec(`UPDATE session SET directory = '/home/dev/elsewhere'`)
	works := r.start(time.Now().Add(-2 * time.Minute))
	r.text = ""
	r.log("cccc3333", time.Now().Add(-2*time.Minute+time.Second), `message="creating instance" directory=/home/dev/p`)
	r.log("cccc3333", r.died.Add(-3*time.Second), "message=loop session.id="+r.id)
	r.want(t, works, "working/")
	log := filepath.Join(r.data, "log", "opencode.log")
	must.Do(t, os.Rename(log, log+".away"))
	must.Do(t, os.Mkdir(log, 0o700))
	unknown := func(when string) {
		t.Helper()
		a := New(adapters.Config{Home: r.home, Env: func(string) string { return "" }, Table: r.fixture.Table})
		sessions, _, err := asked(t, a, adapters.Query{})
		if got := sessions[r.id]; err == nil || got.Status != adapters.Unknown {
			t.Errorf("%s: %s %s (%s), error %v", when, got.Status, got.Outcome, got.Evidence, err)
		}
	}
	unknown("alone")
	r.start(time.Now().Add(-10*time.Second), "-s", r.id)
	unknown("open in a second terminal")
}

// A session that was resumed in the millisecond in which its former process worked on it last is the later process's.
func TestResumedInOneMillisecond(t *testing.T) {
	for range 20 { // the runs are in no order
		r := killedInTurn(t, time.Now().Add(-20*time.Second).Truncate(time.Millisecond))
		began := r.died.Add(-10 * time.Second)
		now := r.start(began, "-s", r.id)
		r.log("bbbb2222", began.Add(time.Second), `message="creating instance" directory=/home/dev/p`)
		for _, run := range []string{"aaaa1111", "bbbb2222"} {
			r.log(run, r.died, "message=loop session.id="+r.id)
		}
		r.want(t, now, "working/")
	}
}
