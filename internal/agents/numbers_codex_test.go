//go:build agents && linux

package agents

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"time"
)

// codexServer is a `codex app-server` that a walk talks to.
type codexServer struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan map[string]any
	next  int
}

func serveCodex(w *walk, c *talk) *codexServer {
	cmd := w.command(c, "app-server")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	s := &codexServer{cmd: cmd, in: in, lines: make(chan map[string]any, 1000)}
	go func() {
		defer close(s.lines)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			var m map[string]any
			if json.Unmarshal(scanner.Bytes(), &m) == nil {
				s.lines <- m
			}
		}
	}()
	s.call("initialize", map[string]any{"clientInfo": map[string]any{"name": "walk", "title": "walk", "version": "1"}, "capabilities": map[string]any{"experimentalApi": true}})
	s.send(map[string]any{"method": "initialized"})
	return s
}

func (s *codexServer) send(m map[string]any) {
	line, _ := json.Marshal(m)
	_, _ = s.in.Write(append(line, '\n'))
}

// call returns the result of a method; nil if it failed.
func (s *codexServer) call(method string, params any) map[string]any {
	s.next++
	id := s.next
	s.send(map[string]any{"id": id, "method": method, "params": params})
	var result map[string]any
	s.until(func(m map[string]any) bool {
		n, is := m["id"].(float64)
		if is && int(n) == id && m["method"] == nil {
			result, _ = m["result"].(map[string]any)
			if result == nil {
				result = map[string]any{"error": m["error"]}
			}
		}
		return result != nil
	})
	return result
}

func (s *codexServer) until(is func(m map[string]any) bool) bool {
	limit := time.After(60 * time.Second)
	for {
		select {
		case m, open := <-s.lines:
			if !open {
				return false
			}
			if is(m) {
				return true
			}
		case <-limit:
			return false
		}
	}
}

// turn runs a turn to its end.
func (s *codexServer) turn(thread, prompt string) string {
	r := s.call("turn/start", map[string]any{"threadId": thread, "input": []any{map[string]any{"type": "text", "text": prompt}}})
	s.until(func(m map[string]any) bool { return m["method"] == "turn/completed" })
	return fmt.Sprint(r["error"])
}

func (s *codexServer) end() {
	_ = s.in.Close()
	timer := time.AfterFunc(15*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	_ = s.cmd.Wait()
}

func threadIn(r map[string]any) string {
	thread, _ := r["thread"].(map[string]any)
	id, _ := thread["id"].(string)
	return id
}

func codexNumbers() numbered {
	exe := func(c *talk, more ...string) []string {
		return append([]string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", c.model}, more...)
	}
	says := speech{first: func(c *talk, prompt string) []string { return exe(c, "--json", prompt) }, id: regexp.MustCompile(`"thread_id":"([^"]+)"`), spawns: true,
		on: func(c *talk, prompt string) []string { return exe(c, "resume", c.id, prompt) }}
	served := func(name string, do func(w *walk, s *codexServer, c *talk) string) act {
		return goes(name, func(w *walk, c *talk) {
			s := serveCodex(w, c)
			defer s.end()
			s.call("thread/resume", map[string]any{"threadId": c.id, "cwd": c.folder})
			w.last = do(w, s, c)
		})
	}
	acts := says.acts(
		act{"a new thread of the app-server", func(w *walk) *talk {
			c := w.begin()
			s := serveCodex(w, c)
			defer s.end()
			r := s.call("thread/start", map[string]any{"cwd": c.folder, "model": c.model})
			c.id = threadIn(r)
			if c.id == "" {
				w.last = fmt.Sprint(r)
				return nil
			}
			w.last = s.turn(c.id, w.prompt("one")) + s.turn(c.id, w.prompt("two"))
			return c
		}},
		served("a fork", func(w *walk, s *codexServer, c *talk) string {
			r := s.call("thread/fork", map[string]any{"threadId": c.id, "cwd": c.folder})
			if id := threadIn(r); id != "" {
				c.id = id
				return s.turn(id, w.prompt("fork"))
			}
			return fmt.Sprint(r)
		}),
		served("turns taken back", func(w *walk, s *codexServer, c *talk) string {
			r := s.call("thread/rollback", map[string]any{"threadId": c.id, "numTurns": 1})
			return fmt.Sprint(r["error"]) + s.turn(c.id, w.prompt("again"))
		}),
		served("a compaction", func(w *walk, s *codexServer, c *talk) string {
			r := s.call("thread/compact/start", map[string]any{"threadId": c.id})
			s.until(func(m map[string]any) bool { return m["method"] == "turn/completed" })
			return fmt.Sprint(r["error"]) + s.turn(c.id, w.prompt("after"))
		}))
	return numbered{release: CodexNewest, homes: "CODEX_HOME", folder: ".codex", models: []string{codexModel, "gpt-5.4"}, acts: acts}
}
