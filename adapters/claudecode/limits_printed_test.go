package claudecode

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
)

// printedEvents are the events that 2.1.332 printed with a made-up subscription: 42 %, 93 % and all of the 5 hours used.
func printedEvents(t *testing.T) []string {
	t.Helper()
	return strings.Split(strings.TrimSpace(recordedLimit(t, "printed-2.1.332.jsonl")), "\n")
}

func TestPrintedLimits(t *testing.T) {
	for i, used := range []float64{42, 93, 100} {
		found := printedLimitsOf([]byte(printedEvents(t)[i]))
		if len(found) != 2 || found[0].Used != used || found[0].Window != 5*time.Hour || found[1].Used != 17 || found[1].Window != 7*24*time.Hour || found[1].ResetsAt.Year() != 2026 {
			t.Errorf("%+v", found)
		}
	}
}

// TestPrintedLimitsOfHostileLines: a figure that the event does not state as a share is not shown.
func TestPrintedLimitsOfHostileLines(t *testing.T) {
	whole := printedEvents(t)[0]
	for n := range whole {
		if found := printedLimitsOf([]byte(whole[:n])); found != nil {
			t.Fatalf("%d bytes: %+v", n, found)
		}
	}
	event := func(info string) string { return `{"type":"rate_limit_event","rate_limit_info":` + info + `}` }
	windows := func(list string) string { return event(`{"status":"allowed","unifiedWindows":{` + list + `}}`) }
	many := strings.Builder{}
	for i := range 1000 {
		fmt.Fprintf(&many, `"w%d":{"utilization":0.5},`, i)
	}
	for line, left := range map[string]int{
		`{"type":"assistant","message":"\"rate_limit_event\" {\"rate_limit_info\"}","x":"rate_limit_event"}`: 0,
		event(`null`): 0, event(`[]`): 0, event(`"five_hour"`): 0, event(`{"status":"allowed","rateLimitType":"five_hour"}`): 0,
		event(`{"status":"rejected","rateLimitType":"five_hour","resetsAt":1795716987}`):          1,
		event(`{"status":"allowed_warning","rateLimitType":"seven_day_opus","utilization":0.81}`): 1,
		windows(`"five_hour":{"utilization":-0.1},"seven_day":{"utilization":42},"overage":7`):    0,
		windows(`"five_hour":{"utilization":1e300},"seven_day":{"utilization":"0.4"}`):            0,
		windows(`"five_hour":{"utilization":1.04,"status":"rejected"},"":{"utilization":0.1}`):    1,
		windows(`"five_hour":{"utilization":0.1,"resetsAt":1795716987000,"new":[{}]},"later":{}`): 1,
		windows(strings.TrimSuffix(many.String(), ",")):                                           maxWindows,
	} {
		found := printedLimitsOf([]byte(line))
		if len(found) != left {
			t.Errorf("%.200s: %+v", line, found)
		}
		for _, l := range found {
			if l.Used < 0 || l.Used > 100 || !l.ResetsAt.IsZero() && l.ResetsAt.Year() != 2026 {
				t.Errorf("%.200s: %+v", line, l)
			}
		}
	}
}

// TestPrintedLimitsOfHomes: the newest output of each home counts, with the time at which its file was changed; one without a home is of the standard one.
func TestPrintedLimitsOfHomes(t *testing.T) {
	user, dir := t.TempDir(), t.TempDir()
	own, work := filepath.Join(user, ".claude"), filepath.Join(dir, "work")
	must.Do(t, errors.Join(os.MkdirAll(filepath.Join(own, "projects", "-p"), 0o700), os.MkdirAll(work, 0o700)))
	now := time.Date(2026, 11, 26, 17, 0, 0, 0, time.UTC)
	events := printedEvents(t)
	var outputs []adapters.Output
	write := func(name, home, text string, age time.Duration) {
		path := filepath.Join(dir, name)
		must.Do(t, errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, now.Add(-age), now.Add(-age))))
		outputs = append(outputs, adapters.Output{Path: path, Home: home})
	}
	write("old", "", events[0]+"\n", time.Hour)
	write("new", own, `{"type":"system"}`+"\n"+events[0]+"\n"+events[1]+"\n"+`{"type":"result","result":"rate_limit_event"}`+"\n"+events[2][:200], time.Minute)
	write("ahead", work, events[2]+"\n", -time.Hour)
	huge := filepath.Join(dir, "huge")
	must.Do(t, errors.Join(os.WriteFile(huge, []byte(events[0]+"\n"), 0o600), os.Truncate(huge, 1<<30)))
	outputs = append(outputs, adapters.Output{Path: huge, Home: work}, adapters.Output{Path: filepath.Join(dir, "gone")}, adapters.Output{Path: dir, Home: work})
	a := New(adapters.Config{Home: user, Env: func(string) string { return "" }, Table: proc.Open(), Now: func() time.Time { return now },
		Outputs: func() []adapters.Output { return outputs }})
	found, err := a.Limits(t.Context())
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder in the place of an output: %v", err)
	}
	got := map[string]float64{}
	for _, l := range found {
		got[fmt.Sprint(l.Home, l.Window, l.At.Sub(now))] = l.Used
	}
	five, week := 5*time.Hour, 7*24*time.Hour
	want := map[string]float64{fmt.Sprint(own, five, -time.Minute): 93, fmt.Sprint(own, week, -time.Minute): 17,
		fmt.Sprint(work, five, time.Duration(0)): 100, fmt.Sprint(work, week, time.Duration(0)): 17}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if l := found[0]; l.Holds(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("it holds after its reset: %+v", l)
	}
}
