//go:build agents && linux

package agents

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

var openClaws = []Release{OpenClawNewest, OpenClawFloor}

// gatewayLimit is how soon a list must show what a gateway says.
const gatewayLimit = 2 * soon

// gatewayRow is what the gateway itself says of a session.
type gatewayRow struct {
	Key          string
	SessionID    string `json:"sessionId"`
	HasActiveRun bool
}

// row waits for the session of that key in the gateway's list.
func row(g *Gateway, key string) gatewayRow {
	g.s.t.Helper()
	var found gatewayRow
	err := poll(10*time.Second, func() bool {
		var list struct{ Sessions []gatewayRow }
		if err := json.Unmarshal(g.call("sessions.list", map[string]any{}), &list); err != nil {
			g.s.t.Fatal(err)
		}
		for _, r := range list.Sessions {
			if r.Key == key {
				found = r
			}
		}
		return found.SessionID != ""
	})
	if err != nil {
		g.s.t.Fatalf("the gateway does not list %s: %v", key, err)
	}
	return found
}

// over waits until the gateway says that the session's run has ended. The older
// one does not say it; its agent has had the model's answer, then.
func over(g *Gateway, key string) {
	g.s.t.Helper()
	err := poll(60*time.Second, func() bool {
		for _, r := range g.s.Server.Requests() {
			if r.Status == 0 && r.Path == "/v1/chat/completions" && !r.Left {
				return false
			}
		}
		return !row(g, key).HasActiveRun
	})
	if err != nil {
		g.s.t.Fatalf("the run of %s does not end: %v", key, err)
	}
}

// keyed chooses the session that the gateway has under that key.
func keyed(g *Gateway, key string) who {
	g.s.t.Helper()
	id := row(g, key).SessionID
	return func(s Session) bool { return s.Agent == g.release.Agent && strings.Contains(s.ID, id) }
}

// A gateway takes its time to start, so that what it does before its end and
// after is one test. It also takes its time to answer then: what must be shown is
// what the gateway itself says at that moment.
func TestOpenClaw(t *testing.T) {
	each(t, openClaws, func(t *testing.T, s *Sandbox, r Release) {
		g := s.StartGateway(r)
		asked := g.Send("agent:main:first", "first job [[delay 20]][[usage 111 22]]")
		first := keyed(g, "agent:main:first")
		working := s.Becomes(first, asked, gatewayLimit, "working")
		if working.PID != 0 || working.Remote == "" || working.CWD != s.Project {
			t.Errorf("working: %v in %q on %q, want no process, and %s", working, working.CWD, working.Remote, s.Project)
		}
		over(g, "agent:main:first")
		idle := s.Becomes(first, time.Now(), gatewayLimit, "idle/completed")
		if idle.ID != working.ID || idle.Model != mockProvider+"/"+mockModel && idle.Model != mockModel || idle.Stale != nil {
			t.Errorf("idle: id %s (was %s), model %q, stale %v", idle.ID, working.ID, idle.Model, idle.Stale)
		}

		asked = g.Send("agent:main:second", "break it [[fail 400]]")
		over(g, "agent:main:second")
		s.Becomes(keyed(g, "agent:main:second"), asked, gatewayLimit, "idle/failed")

		asked = g.Send("agent:main:third", "stop me [[delay 300]]")
		third := keyed(g, "agent:main:third")
		running := s.Becomes(third, asked, gatewayLimit, "working")
		stopped := time.Now()
		if output, err := s.Command(headlessBinary, "stop", running.ID).CombinedOutput(); err != nil {
			t.Errorf("rollcall stop: %v\n%s", err, output)
		}
		s.Becomes(third, stopped, gatewayLimit, "idle/interrupted")
		if err := poll(5*time.Second, func() bool { return s.left("stop me") }); err != nil {
			t.Errorf("the agent still waits for its model: %v", err)
		}
		s.shows(first, time.Now(), gatewayLimit, "its first prompt", func(session Session) bool {
			return strings.Contains(session.FirstPrompt, "first job")
		})
		g.Send("agent:main:first", "more of it")
		over(g, "agent:main:first")
		pages(t, g, "agent:main:first")
		refusals(t, s, g)
		killed(t, s, g)
	})
}

// pages checks that the offsets that a gateway states lead through a conversation.
func pages(t *testing.T, g *Gateway, key string) {
	t.Helper()
	read := func(limit, offset int) (ids []string, next int) {
		params := map[string]any{"sessionKey": key, "limit": limit}
		if offset > 0 {
			params["offset"] = offset
		}
		var page struct {
			Messages []struct {
				Meta struct {
					ID string `json:"id"`
				} `json:"__openclaw"`
			} `json:"messages"`
			HasMore    bool `json:"hasMore"`
			NextOffset int  `json:"nextOffset"`
		}
		must.Do(t, json.Unmarshal(g.call("chat.history", params), &page))
		for _, m := range page.Messages {
			ids = append(ids, m.Meta.ID)
		}
		if page.HasMore == (page.NextOffset <= offset) {
			t.Errorf("more: %v, next page at %d after %d", page.HasMore, page.NextOffset, offset)
		}
		return ids, page.NextOffset
	}
	all, _ := read(1000, 0)
	walked, next := read(1, 0)
	for next > 0 {
		var older []string
		older, next = read(1, next)
		walked = append(older, walked...)
	}
	if len(all) < 4 || !slices.Equal(walked, all) {
		t.Errorf("page by page %q, at once %q", walked, all)
	}
}

// refusals are what someone sees who reaches the gateway from another home folder
// in a wrong way.
func refusals(t *testing.T, s *Sandbox, g *Gateway) {
	t.Helper()
	elsewhere := func(url, token string) Health {
		env := append(s.Env(), "HOME="+filepath.Join(s.dir, "elsewhere"), "OPENCLAW_GATEWAY_URL="+url, "OPENCLAW_GATEWAY_TOKEN="+token)
		roll := must.Get(s.listWith(env))(t)
		return roll.health(g.release.Agent)
	}
	proxy := protocolProxy(s, g)
	tests := []struct{ name, url, token, words string }{
		{"right", g.URL(), gatewayToken, ""},
		{"wrong token", g.URL(), "not-the-token", "refused the token"},
		{"no token", g.URL(), "", "requires a token"},
		{"other protocol", proxy, gatewayToken, "protocol"},
		{"nobody there", "ws://127.0.0.1:1", gatewayToken, "not running"},
	}
	for _, test := range tests {
		h := elsewhere(test.url, test.token)
		t.Logf("%s: %s %s", test.name, h.State, h.Error)
		if test.words == "" && h.State != "ok" {
			t.Errorf("%s: %s %s", test.name, h.State, h.Error)
		}
		if test.words != "" && (h.State != "failed" || !strings.Contains(h.Error, test.words)) {
			t.Errorf("%s: %s %q, want a failure that says %q", test.name, h.State, h.Error, test.words)
		}
		if strings.Contains(h.Error, gatewayToken) || strings.Contains(h.Error, "not-the-token") {
			t.Errorf("%s: the message tells the token: %s", test.name, h.Error)
		}
	}
}

// killed kills a gateway with three sessions in the middle of a fourth. That
// leaves no session that seems to work, and the gateway's next start, in the nightly
// run, brings back those that there were, once.
func killed(t *testing.T, s *Sandbox, g *Gateway) {
	t.Helper()
	r := g.release
	first := keyed(g, "agent:main:first")
	asked := g.Send("agent:main:fourth", "goes on [[delay 300]]")
	fourth := keyed(g, "agent:main:fourth")
	s.Becomes(fourth, asked, gatewayLimit, "working")
	s.Kill(g.Process)
	withoutGateway(t, s, r, first, fourth)
	s.StopAgents() // what watches it
	withoutGateway(t, s, r, first, fourth)
	if everything() {
		startedAgain(t, s, r)
	}
}

// startedAgain starts the gateway again over what killed left.
func startedAgain(t *testing.T, s *Sandbox, r Release) {
	t.Helper()
	g := s.StartGateway(r)
	first, fourth := keyed(g, "agent:main:first"), keyed(g, "agent:main:fourth")
	s.Becomes(first, time.Now(), gatewayLimit, "idle/completed")
	states := []string{"unknown", "idle", "idle/interrupted"} // the older one does not tell how it ended
	if r == OpenClawNewest {                                  // it takes up again what its end interrupted
		err := poll(60*time.Second, func() bool { return row(g, "agent:main:fourth").HasActiveRun })
		if err != nil {
			t.Fatalf("the interrupted session is not taken up again: %v", err)
		}
		states = []string{"working"}
	}
	s.Becomes(fourth, time.Now(), gatewayLimit, states...)
	var roll Roll
	err := poll(60*time.Second, func() (ok bool) { // right after its start a gateway may take longer than it has
		var err error
		roll, err = s.List("--all")
		return err == nil && len(roll.Sessions) == 4
	})
	if err != nil {
		t.Errorf("%d sessions, want 4: %v%v", len(roll.Sessions), err, roll)
	}
}

// withoutGateway checks what there is to see when the gateway is not there: its stored sessions have stopped, and can be searched.
func withoutGateway(t *testing.T, s *Sandbox, r Release, first, fourth who) {
	t.Helper()
	s.Becomes(first, time.Now(), gatewayLimit, "stopped/completed") // its sockets go a moment after it
	s.Becomes(fourth, time.Now(), gatewayLimit, "stopped/died")
	roll, err := s.List("--all")
	if h := roll.health(r.Agent); err != nil || h.State != "ok" || len(roll.Sessions) != 4 {
		t.Errorf("without a gateway: %v, %s %s:%v", err, h.State, h.Error, roll)
	}
	if out, err := s.Command(headlessBinary, "search", "first job").CombinedOutput(); err != nil || !strings.Contains(string(out), "first job") {
		t.Errorf("search: %v\n%s", err, out)
	}
}
