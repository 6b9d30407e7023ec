//go:build agents && linux

package agents

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// What the model server has answered is what `rollcall usage` counts, after a session was resumed, forked and has spawned a sub-agent. ID in the arguments
// stands for the id of the first session.
func TestUsage(t *testing.T) {
	nightly(t)
	for _, c := range []struct {
		release Release
		runs    [][]string
	}{
		{ClaudeNewest, [][]string{
			{"-p", "one [[usage 100 11]]"},
			{"-p", "two [[usage 100 13]]", "--resume", "ID"},
			{"-p", "fork [[usage 100 17]]", "--resume", "ID", "--fork-session"},
			{"-p", "three [[usage 100 19]]", "--resume", "ID"},
			{"-p", "delegate [[agent child job ((usage 100 23))]]", "--resume", "ID"},
		}},
		{CodexNewest, [][]string{
			{"exec", "--skip-git-repo-check", "one [[usage 100 11]]"},
			{"exec", "--skip-git-repo-check", "resume", "ID", "two [[usage 100 13]]"},
		}},
		{OpenCodeNewest, [][]string{
			{"run", "one [[usage 100 11]]"},
			{"run", "--session", "ID", "two [[usage 100 13]]"},
			{"run", "--session", "ID", "--fork", "fork [[usage 100 17]]"},
			{"run", "--session", "ID", "three [[usage 100 19]]"},
		}},
		{PiNewest, [][]string{
			{"-p", "one [[usage 100 11]]"},
			{"-p", "--session", "ID", "two [[usage 100 13]]"},
			{"-p", "--fork", "ID", "fork [[usage 100 17]]"},
			{"-p", "--session", "ID", "three [[usage 100 19]]"},
		}},
		{OmpNewest, [][]string{
			{"-p", "one [[usage 100 11]]"},
			{"-p", "--resume", "ID", "two [[usage 100 13]]"},
			{"-p", "--fork", "ID", "fork [[usage 100 17]]"},
			{"-p", "--resume", "ID", "three [[usage 100 19]]"},
		}},
		{QwenNewest, [][]string{
			{"-p", "one [[usage 100 11]]"},
			{"-p", "two [[usage 100 13]]", "--resume", "ID"},
			{"-p", "fork [[usage 100 17]]", "--resume", "ID", "--fork-session"},
			{"-p", "three [[usage 100 19]]", "--resume", "ID"},
		}},
	} {
		t.Run(c.release.Agent, func(t *testing.T) {
			each(t, []Release{c.release}, func(t *testing.T, s *Sandbox, r Release) {
				id := ""
				for _, args := range c.runs {
					for i := range args {
						args[i] = strings.ReplaceAll(args[i], "ID", id)
					}
					if out, err := s.run(r, args...).CombinedOutput(); err != nil {
						t.Fatalf("%q: %v\n%s", args, err, out)
					}
					if roll, err := s.List("--all"); id == "" && (err != nil || len(roll.Sessions) != 1) {
						t.Fatalf("%+v, %v", roll.Sessions, err)
					} else if id == "" {
						id = roll.Sessions[0].ID
					}
				}
				want := 0
				for _, q := range s.Server.Requests() {
					if q.Status == http.StatusOK && (q.Prompt != "" || q.Tool) && !q.Side {
						want += q.Output
					}
				}
				got, out := countedOutput(s, r)
				if got != int64(want) || want == 0 {
					t.Errorf("usage counts an output of %d, the model server answered %d\n%s", got, want, out)
				}
			})
		})
	}
}

// countedOutput returns the tokens of output that usage counts, and what it said.
func countedOutput(s *Sandbox, r Release) (int64, []byte) {
	s.t.Helper()
	var usage struct {
		Total struct {
			Tokens struct{ Output, Reasoning int64 }
		}
	}
	out, err := s.Command(headlessBinary, "usage", "--since", "all", "--json").Output()
	if err != nil || json.Unmarshal(out, &usage) != nil {
		s.t.Fatalf("usage: %v\n%s", err, out)
	}
	got := usage.Total.Tokens.Output
	if r.Agent == OpenCodeNewest.Agent { // which takes what the model reasoned out of the output
		got += usage.Total.Tokens.Reasoning
	}
	return got, out
}
