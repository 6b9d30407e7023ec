//go:build agents && linux

package agents

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// The server of a session is known to be its process's own, and is asked: what it
// says goes before what is stored.
func TestOpenCodeServer(t *testing.T) {
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		address := listener.Addr().String()
		listener.Close()
		_, port, _ := net.SplitHostPort(address)
		wrapper := s.Detached(s.Argv(r, "serve", "--port", port)...)
		agent := s.Descendant(wrapper.PID, "opencode")
		// A request that comes while the server starts may never be answered.
		client := &http.Client{Timeout: 10 * time.Second}
		post := func(path, body string) string {
			var text []byte
			err := poll(60*time.Second, func() bool {
				response, err := client.Post("http://"+address+path+"?directory="+url.QueryEscape(s.Project), "application/json", strings.NewReader(body))
				if err != nil {
					text = []byte(err.Error())
					return false
				}
				defer response.Body.Close()
				text, err = io.ReadAll(response.Body)
				return err == nil && response.StatusCode < 300
			})
			if err != nil {
				t.Fatalf("%s: %v: %s", path, err, text)
			}
			return string(text)
		}
		id := regexp.MustCompile(`ses_[0-9A-Za-z]+`).FindString(post("/session", "{}"))
		if id == "" {
			t.Fatal("no session was made")
		}
		const prompt = "served [[delay 8]]"
		post("/session/"+id+"/prompt_async", `{"parts":[{"type":"text","text":"`+prompt+`"}]}`)
		asked := s.Asked(prompt)
		s.shows(byID(id), asked, soon, "busy, by its server", func(session Session) bool {
			return session.state() == "working" && session.PID == agent.PID && strings.Contains(session.Evidence, "says busy")
		})
		s.shows(byID(id), time.Now(), 30*time.Second, "idle, by its server", func(session Session) bool {
			return session.state() == "idle/completed" && strings.Contains(session.Evidence, "isn't busy")
		})
		post("/session/"+id+"/prompt_async", `{"parts":[{"type":"text","text":"refused [[fail 429 3600]]"}]}`)
		asked = s.Asked("refused")
		waits := s.shows(byID(id), asked, soon, "limited until the retry", func(session Session) bool { return session.state() == "working" && session.Limited })
		if until, err := time.Parse(time.RFC3339, waits.LimitedUntil); err != nil || until.Sub(asked).Round(10*time.Minute) != time.Hour {
			t.Errorf("asked at %v and limited until %q, %v", asked, waits.LimitedUntil, err)
		}
		post("/session/"+id+"/abort", "")
		s.Becomes(byID(id), time.Now(), soon, "idle/interrupted")
		if roll, err := s.List(); err != nil || roll.health("opencode").State != "ok" {
			t.Errorf("%v, %v", roll.health("opencode"), err)
		}
		s.Signal(agent, unix.SIGTERM)
		s.Gone(agent)
		s.Becomes(byID(id), time.Now(), soon, "stopped/interrupted")
	})
}
