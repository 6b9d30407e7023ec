package cli

import (
	"encoding/json"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/machine"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestListResources: what sessions use is in the document where it was asked for, and only there.
func TestListResources(t *testing.T) {
	here := simple("here", agentname.ClaudeCode, adapters.Working, time.Minute)
	here.Process = proc.Self()
	d := deps(claude(here, simple("gone", agentname.ClaudeCode, adapters.Stopped, time.Minute)))
	list, _ := d.Open()
	d.Open = func() ([]adapters.Adapter, proc.Lister) { return list, proc.Open() }
	sessions := func(flags ...string) map[string]*machine.ResourcesJSON {
		t.Helper()
		r := run(t, d, append([]string{"list", "--all", "--json"}, flags...)...)
		var doc struct{ Sessions []machine.SessionJSON }
		must.Do(t, json.Unmarshal([]byte(r.out), &doc))
		used := map[string]*machine.ResourcesJSON{}
		for _, s := range doc.Sessions {
			used[s.ID] = s.Resources
		}
		return used
	}
	if used := sessions(); used["here"] != nil {
		t.Errorf("it was not asked for: %+v", used["here"])
	}
	used := sessions("--resources")
	if u := used["here"]; u == nil || u.Processes < 1 || u.MemoryBytes < 1<<20 || u.Shared {
		t.Errorf("this process uses %+v", u)
	}
	if used["gone"] != nil || len(used) != 2 {
		t.Errorf("sessions %v", used)
	}
	if r := run(t, d, "list", "--resources"); r.code != Usage {
		t.Errorf("a table with --resources: exit code %d, %s", r.code, r.out)
	}
}
