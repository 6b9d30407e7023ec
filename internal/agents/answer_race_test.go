//go:build agents && linux

package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// racesKey is the variable with the number of races per agent.
const racesKey = "ROLLCALL_RACES"

// races returns how many races to run per agent: 3, or as racesKey says, at most 500.
func races(t *testing.T) int {
	t.Helper()
	text := os.Getenv(racesKey)
	if text == "" {
		return 3
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 500 {
		t.Fatalf("%s=%s is no number from 1 to 500", racesKey, text)
	}
	return n
}

// racer is an agent whose requests are answered from two sides.
type racer struct {
	s      *Sandbox
	prefix string               // of its files' names
	ask    func(command string) // has the agent ask for a command, and returns at once
	deny   func(r request)      // denies as the user does without Rollcall; returns at once
	random *rand.Rand
	seed   uint64
}

// run runs races between an answer of Rollcall and what happens in the terminal. Nothing that
// nobody allowed may ever run, and an answer that Rollcall calls taken must have counted.
func (x *racer) run() {
	x.seed = uint64(time.Now().UnixNano())
	x.random = rand.New(rand.NewPCG(x.seed, 1))
	rounds := races(x.s.t)
	counts := map[string]int{}
	for n := range rounds {
		kind := []string{"denied elsewhere", "replaced", "two answers"}[x.random.IntN(3)]
		began := time.Now()
		result := ""
		switch kind {
		case "denied elsewhere":
			result = x.deniedElsewhere(n)
		case "replaced":
			result = x.replaced(n)
		default:
			result = x.twoAnswers(n)
		}
		counts[kind+": "+result]++
		x.s.t.Logf("race %d, %s: %s after %s", n, kind, result, time.Since(began).Round(time.Millisecond))
		if x.s.t.Failed() {
			x.s.t.Fatalf("seed %d", x.seed)
		}
	}
	x.s.t.Logf("%d races, seed %d: %v", rounds, x.seed, counts)
}

// begin has the agent ask for a file of its own.
func (x *racer) begin(name string) (request, string) {
	x.s.t.Helper()
	file := filepath.Join(x.s.Home, "made-"+name)
	x.ask("touch " + x.path(name))
	return x.s.asks("made-" + name), file
}

// path returns the name of a file as the agent's command has it.
func (x *racer) path(name string) string { return x.prefix + "made-" + name }

// pause waits up to limit.
func (x *racer) pause(limit time.Duration) { time.Sleep(x.upTo(limit)) }

func (x *racer) upTo(limit time.Duration) time.Duration {
	return time.Duration(x.random.Int64N(int64(limit)))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// clear denies what still waits, and returns when nothing does.
func (x *racer) clear() {
	x.s.t.Helper()
	err := poll(60*time.Second, func() bool {
		list, _ := x.s.pending()
		for _, r := range list {
			x.s.answer(r, "--deny")
		}
		roll, err := x.s.List()
		if err != nil {
			x.s.t.Fatal(err)
		}
		for _, s := range roll.Sessions {
			if s.Status == "waiting" || s.Status == "working" {
				return false
			}
		}
		return len(list) == 0
	})
	if err != nil {
		x.s.t.Fatalf("the agent does not come to rest: %v", err)
	}
}

// deniedElsewhere lets Rollcall allow what the user denies at the same moment.
func (x *racer) deniedElsewhere(n int) string {
	r, file := x.begin(fmt.Sprintf("%d-e", n))
	var group sync.WaitGroup
	before, after := x.upTo(200*time.Millisecond), x.upTo(200*time.Millisecond)
	code, said := 0, ""
	group.Go(func() { time.Sleep(before); code, said = x.s.answer(r, "--allow") })
	group.Go(func() { time.Sleep(after); x.deny(r) })
	group.Wait()
	x.clear()
	switch made := exists(file); {
	case made && code != 0 && code != 14:
		x.s.t.Errorf("%s was made, and the answer was not taken: %d %s", file, code, said)
	case !made && code == 0:
		x.s.t.Errorf("the answer was called taken, and %s was not made: %s", file, said)
	case made:
		return "allowed"
	}
	return fmt.Sprintf("denied (%d)", code)
}

// replaced answers a request after another has taken its place, or while it does.
func (x *racer) replaced(n int) string {
	r, file := x.begin(fmt.Sprintf("%d-r", n))
	err := poll(30*time.Second, func() bool { // a dialog that has just come up takes no keys
		x.deny(r)
		list, _ := x.s.pending()
		return len(list) == 0
	})
	if err != nil {
		x.s.t.Fatalf("the request is not withdrawn: %v", err)
	}
	x.clear()
	made := exists(file)
	other := fmt.Sprintf("%d-s", n)
	var group sync.WaitGroup
	stop := make(chan struct{})
	group.Go(func() { // all the while, the old answer comes
		for {
			if code, said := x.s.answer(r, "--allow"); code == 0 {
				x.s.t.Errorf("an answer to a request that is over was taken: %s", said)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	second, otherFile := x.begin(other)
	x.pause(200 * time.Millisecond)
	close(stop)
	group.Wait()
	if exists(otherFile) || exists(file) != made {
		x.s.t.Errorf("%s was made by an answer to %s", otherFile, file)
	}
	x.s.answer(second, "--deny")
	x.clear()
	if exists(otherFile) {
		x.s.t.Errorf("%s was made although it was denied", otherFile)
	}
	return "nothing was answered"
}

// twoAnswers lets two Rollcalls answer at once, in different ways.
func (x *racer) twoAnswers(n int) string {
	r, file := x.begin(fmt.Sprintf("%d-t", n))
	var group sync.WaitGroup
	first, second := x.upTo(60*time.Millisecond), x.upTo(60*time.Millisecond)
	var allowed, denied int
	var saidAllowed, saidDenied string
	group.Go(func() { time.Sleep(first); allowed, saidAllowed = x.s.answer(r, "--allow") })
	group.Go(func() { time.Sleep(second); denied, saidDenied = x.s.answer(r, "--deny") })
	group.Wait()
	x.clear()
	made := exists(file)
	if allowed == 0 && denied == 0 || made && denied == 0 || !made && allowed == 0 {
		x.s.t.Errorf("made %v; allow: %d %s; deny: %d %s", made, allowed, saidAllowed, denied, saidDenied)
	}
	if made {
		return "allowed"
	}
	return "denied"
}

func TestAnswerRacesCodex(t *testing.T) {
	each(t, []Release{CodexNewest}, func(_ *testing.T, s *Sandbox, r Release) {
		terminal := openCodex(s, r)
		x := &racer{s: s, prefix: "../", ask: func(command string) { terminal.Prompt("[[bash " + command + "]][[esc]]") }}
		x.deny = func(request) {
			if strings.Contains(terminal.Screen(), "Would you like to run the following command?") {
				terminal.Press("Escape")
			}
		}
		x.run()
	})
}

func TestAnswerRacesOpenCode(t *testing.T) {
	each(t, []Release{OpenCodeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		err := writeJSON(filepath.Join(s.Project, "opencode.json"), map[string]any{"permission": map[string]any{
			"bash": "ask", "external_directory": "allow"}})
		if err != nil {
			t.Fatal(err)
		}
		port := strconv.Itoa(freePort(s))
		terminal := s.Open(s.Argv(r, "--port", port)...)
		terminal.Shows("Ask anything")
		x := &racer{s: s, prefix: "../", ask: func(command string) { terminal.Prompt("[[bash " + command + "]]") }}
		x.deny = func(r request) { // what the terminal itself sends
			body, _ := json.Marshal(map[string]string{"reply": "reject"})
			response, err := http.Post("http://127.0.0.1:"+port+"/permission/"+r.ID+"/reply?directory="+url.QueryEscape(s.Project), "application/json", bytes.NewReader(body))
			if err == nil {
				response.Body.Close()
			}
		}
		x.run()
	})
}

func TestAnswerRacesClaudeInTmux(t *testing.T) {
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := openClaudeInTmux(s, r, uuid(t))
		ask := func(command string) {
			err := poll(30*time.Second, func() bool { // Esc twice opens the list of points to go back to
				if !strings.Contains(terminal.Screen(), "Enter to continue · Esc to cancel") {
					return true
				}
				terminal.Press("Escape")
				return false
			})
			if err != nil {
				t.Errorf("the list of earlier prompts stays open: %v", err)
			}
			terminal.Press("C-u") // a prompt that Esc took back may be in the box again
			terminal.Prompt("[[bash " + command + "]]")
		}
		x := &racer{s: s, prefix: s.Home + "/", ask: ask}
		var pressed time.Time
		x.deny = func(request) {
			if strings.Contains(terminal.Screen(), "Do you want to proceed?") && time.Since(pressed) > 2*time.Second { // twice opens another list
				pressed = time.Now()
				terminal.Press("Escape")
			}
		}
		x.run()
	})
}
