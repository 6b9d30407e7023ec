//go:build agents && linux

package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/internal/must"
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

// raceLimit is how long one race may take.
const raceLimit = 3 * time.Minute

// racer is an agent whose requests are answered from two sides.
type racer struct {
	s      *Sandbox
	prefix string               // of its files' names
	ask    func(command string) // has the agent ask for a command, and returns at once
	deny   func(r request)      // denies as the user does without Rollcall; returns at once
	random *rand.Rand
	seed   uint64
	// rests reports whether the agent can be asked again. nil: no session works or waits.
	rests func() bool
	// stops reports that deny ends the turn also after the request was allowed, so that an
	// allowed command may not run to its end.
	stops bool
	// took are the times from the call of rollcall answer until an allowed command ran.
	took []time.Duration
}

// run runs races between an answer of Rollcall and what happens in the terminal. Nothing that
// nobody allowed may ever run, and an answer that Rollcall calls taken must have counted.
func (x *racer) run() {
	x.seed = uint64(time.Now().UnixNano())
	x.random = rand.New(rand.NewPCG(x.seed, 1))
	rounds := races(x.s.t)
	counts := map[string]int{}
	x.s.t.Logf("%d races, seed %d", rounds, x.seed)
	deadline, limited := x.s.t.Deadline()
	for n := range rounds {
		if limited && time.Until(deadline) < raceLimit { // the results are worth more than further races
			rounds = n
			break
		}
		kind := []string{"denied elsewhere", "replaced", "two answers", "alone"}[x.random.IntN(4)]
		began := time.Now()
		result := ""
		switch kind {
		case "denied elsewhere":
			result = x.deniedElsewhere(n)
		case "replaced":
			result = x.replaced(n)
		case "alone":
			result = x.alone(n)
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
	if slices.Sort(x.took); len(x.took) > 0 {
		at := func(percent int) time.Duration { return x.took[(len(x.took)-1)*percent/100].Round(time.Millisecond) }
		x.s.t.Logf("from the call of rollcall answer to the running command, %d times: p50 %v, p99 %v", len(x.took), at(50), at(99))
	}
}

// alone lets Rollcall allow what nobody else answers, and notes how long it took until the command ran.
func (x *racer) alone(n int) string {
	r, file := x.begin(fmt.Sprintf("%d-a", n))
	time.Sleep(time.Second) // some dialogs take no keys at first
	began := time.Now()
	code, said := x.s.answer(r, "--allow")
	err := poll(5*time.Second, func() bool { return exists(file) })
	info, failed := os.Stat(file)
	err = errors.Join(err, failed)
	if err != nil || code != 0 && code != 14 { // a busy machine confirms late
		x.s.t.Errorf("%s was not made: %v; the answer: %d %s", file, err, code, said)
		return "not allowed"
	}
	x.took = append(x.took, max(info.ModTime().Sub(began), 0))
	x.clear()
	return "allowed"
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
		if x.rests != nil {
			return len(list) == 0 && x.rests()
		}
		roll := must.Get(x.s.List())(x.s.t)
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
	case !made && code == 0 && !x.stops:
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
	nightly(t)
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
	nightly(t)
	each(t, []Release{OpenCodeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		err := writeJSON(filepath.Join(s.Project, "opencode.json"), map[string]any{"permission": map[string]any{
			"bash": "ask", "external_directory": "allow"}})
		must.Do(t, err)
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

// typist is a terminal of Claude Code that the user types into.
type typist interface {
	Screen() string
	Press(keys ...string) // by their tmux names
	Prompt(prompt string) time.Time
}

// claudeRacer is a racer of Claude Code in a terminal.
func claudeRacer(s *Sandbox, terminal typist) *racer {
	x := &racer{s: s, prefix: s.Home + "/"}
	x.ask = func(command string) {
		err := poll(30*time.Second, func() bool { // Esc twice opens the list of points to go back to
			if !strings.Contains(terminal.Screen(), "Enter to continue · Esc to cancel") {
				return true
			}
			terminal.Press("Escape")
			return false
		})
		if err != nil {
			s.t.Errorf("the list of earlier prompts stays open: %v", err)
		}
		terminal.Press("C-u") // a prompt that Esc took back may be in the box again
		terminal.Prompt("[[bash " + command + "]]")
	}
	var pressed time.Time
	x.deny = func(request) {
		if strings.Contains(terminal.Screen(), "Do you want to proceed?") && time.Since(pressed) > 2*time.Second { // twice opens another list
			pressed = time.Now()
			terminal.Press("Escape")
		}
	}
	return x
}

func TestAnswerRacesClaudeInTmux(t *testing.T) {
	nightly(t)
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		claudeRacer(s, openClaudeInTmux(s, r, uuid(t))).run()
	})
}

// The prompt is allowed in the terminal in the moments in which Rollcall denies it: a denial that Rollcall calls taken has counted.
func TestAnswerDenyWhileAllowed(t *testing.T) {
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := openClaudeInTmux(s, r, uuid(t))
		agent := s.Descendant(terminal.PID(), "claude")
		counts := map[string]int{}
		for n := range races(t) {
			file := fmt.Sprintf("both-%d.txt", n)
			terminal.Enter("[[bash touch " + file + "]]") // a second Enter would allow it
			terminal.Shows("Do you want to proceed?")
			asked := s.asks("touch " + file)
			time.Sleep(time.Second) // the prompt takes no keys at first
			pressed := make(chan struct{})
			go func() {
				defer close(pressed)
				time.Sleep(time.Duration(n%8) * 40 * time.Millisecond)
				_, _ = s.tryTmux("send-keys", "-t", terminal.pane(), "1")
			}()
			code, said := s.answer(asked, "--deny")
			<-pressed
			registrySays(s, agent, `"status":"idle"`)
			ran := exists(filepath.Join(s.Project, file))
			if code == 0 && ran {
				t.Errorf("race %d: denied, it says, and the command ran: %s", n, said)
			}
			t.Logf("race %d: exit code %d, ran %v: %s", n, code, ran, strings.TrimSpace(said))
			counts[fmt.Sprintf("exit code %d, ran %v", code, ran)]++
			terminal.Press("C-u") // a key that came too late is in the box
		}
		t.Log(counts)
	})
}

func TestAnswerRacesClaudeInKitty(t *testing.T) {
	nightly(t)
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		claudeRacer(s, openClaudeInKitty(s, r, uuid(t))).run()
	})
}

// openClawQueue asks a gateway for approvals as its own agents do, and runs what was allowed once, as they do.
type openClawQueue struct {
	s       *Sandbox
	g       *Gateway
	waiting sync.WaitGroup
	mu      sync.Mutex
	open    int
}

// dial opens a connection that may decide, which lasts as long as the test.
func (q *openClawQueue) dial(caps ...string) *gatewayClient {
	q.s.t.Helper()
	client, err := q.g.dialWith(q.s.t.Context(), append([]string{}, caps...), "operator.read", "operator.write", "operator.approvals", "operator.admin")
	if err != nil {
		q.s.t.Fatal(err)
	}
	return client
}

func (q *openClawQueue) ask(command string) {
	q.s.t.Helper()
	client := q.dial()
	answer, err := client.call(q.s.t.Context(), "exec.approval.request", map[string]any{"command": command, "cwd": q.s.Project,
		"host": "gateway", "agentId": "main", "sessionKey": "agent:main:first", "twoPhase": true, "timeoutMs": 120000})
	var asked struct{ ID, Status string }
	if err == nil {
		err = json.Unmarshal(answer, &asked)
	}
	if err != nil || asked.Status != "accepted" {
		q.s.t.Fatalf("%s, %v", answer, err)
	}
	q.add(1)
	q.waiting.Go(func() {
		defer client.close()
		defer q.add(-1)
		answer, err := client.callWithin(q.s.t.Context(), raceLimit, "exec.approval.waitDecision", map[string]any{"id": asked.ID})
		switch {
		case q.s.t.Context().Err() != nil:
		case err != nil:
			q.s.t.Errorf("wait for the decision: %v", err)
		case strings.Contains(string(answer), `"allow-always"`):
			q.s.t.Errorf("decided %s", answer)
		case strings.Contains(string(answer), `"allow-once"`):
			if err := q.s.Command("sh", "-c", command).Run(); err != nil {
				q.s.t.Errorf("%s: %v", command, err)
			}
		}
	})
}

func (q *openClawQueue) add(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open += n
}

// rests reports whether every request has its decision, and what was allowed has run.
func (q *openClawQueue) rests() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.open == 0
}

func TestAnswerRacesOpenClaw(t *testing.T) {
	nightly(t)
	each(t, []Release{OpenClawNewest}, func(t *testing.T, s *Sandbox, r Release) {
		q := &openClawQueue{s: s, g: s.StartGateway(r)}
		defer q.waiting.Wait()
		q.g.Send("agent:main:first", "first job [[delay 3600]]")
		// The gateway lets a request wait only if another client can show it.
		shows := q.dial("approvals", "exec-approvals")
		defer shows.close()
		go shows.passOver(t.Context())
		other := q.dial() // the user in the gateway's own interface
		defer other.close()
		x := &racer{s: s, prefix: "../", ask: q.ask, rests: q.rests}
		x.deny = func(r request) { // it fails if the request has its decision
			_, _ = other.call(t.Context(), "exec.approval.resolve", map[string]any{"id": r.ID, "decision": "deny"})
		}
		x.run()
	})
}
