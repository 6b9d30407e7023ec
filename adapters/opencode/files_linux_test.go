package opencode

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
)

const fileSessionData = `{"id":"` + sesA + `","directory":"/home/dev/p","title":"A title","version":"1.1.65","time":{"created":1795236718527,"updated":1795236719363}}`

func fileStore(t *testing.T) *store {
	s := newHome(t)
	s.write("storage/session/p/"+sesA+".json", fileSessionData)
	s.write("storage/message/"+sesA+"/msg_1fc7268c0001aaaa.json", strings.ReplaceAll(`{"id":"x",`+userData[1:], "%d", "1795236718784"))
	s.write("storage/part/msg_1fc7268c0001aaaa/prt_1fc7268c1001aaaa.json", `{"id":"x","type":"text","text":"\"do it now\"\n"}`)
	s.write("storage/message/"+sesA+"/msg_1fc726a3b001aaaa.json", strings.ReplaceAll(`{"id":"x",`+doneData[1:], "%d", "1795236719163"))
	return s
}

// Whatever lies in the place of one file, the rest is read, and it takes no time.
func TestBadFiles(t *testing.T) {
	message := "storage/message/" + sesA + "/msg_1fc726a3b002aaaa.json"
	tests := map[string]struct {
		put     func(s *store)
		skipped string
	}{
		"half a message": {func(s *store) { s.write(message, doneData[:50]) }, "message file that could not be read"},
		"a named pipe": {func(s *store) {
			_ = syscall.Mkfifo(filepath.Join(s.data, message), 0o600)
		}, "message file that could not be read"},
		"a message of 100 MB": {func(s *store) {
			_ = os.Truncate(s.write(message, "{"), 100<<20)
		}, "message file that could not be read"},
		"a session that is none": {func(s *store) {
			s.write("storage/session/p/"+sesB+".json", "[]")
		}, "session file in an unknown form"},
		"another session's file": {func(s *store) {
			s.write("storage/session/p/"+sesB+".json", fileSessionData)
		}, "session file in an unknown form"},
		"a link to itself": {func(s *store) {
			_ = os.Symlink(sesB+".json", filepath.Join(s.data, "storage/session/p/"+sesB+".json"))
		}, "session file in an unknown form"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := fileStore(t)
			test.put(s)
			adaptertest.Untouched(t, s.home)
			sessions, roll, err := asked(t, alone(s), adapters.Query{Totals: true})
			got := sessions[sesA]
			if err != nil || len(sessions) != 1 || got.Outcome != adapters.Completed || got.FirstPrompt != "do it now" || got.Tokens.Output != 30 {
				t.Errorf("%+v, %v", got, err)
			}
			if roll.Skipped[test.skipped] != 1 {
				t.Errorf("skipped %v", roll.Skipped)
			}
		})
	}
}

// A folder that may not be read is named.
func TestNoPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	s := fileStore(t)
	dir := filepath.Join(s.data, "storage", "session", "p")
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	_, _, err := asked(t, alone(s), adapters.Query{})
	if !errors.Is(err, adapters.ErrUnreadable) || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
}

// Files that changed are read again, those that didn't are not needed.
func TestFilesChange(t *testing.T) {
	s := fileStore(t)
	a := alone(s)
	if sessions, _, _ := asked(t, a, adapters.Query{}); sessions[sesA].Outcome != adapters.Completed {
		t.Errorf("%v", sessions)
	}
	s.write("storage/message/"+sesA+"/msg_1fc726a3b003aaaa.json", strings.ReplaceAll(userData, "%d", "1795236719164"))
	s.write("storage/part/msg_1fc726a3b003aaaa/prt_1.json", `{"type":"text","text":"more"}`)
	sessions, _, err := asked(t, a, adapters.Query{})
	if got := sessions[sesA]; err != nil || got.Outcome != adapters.Died || got.LastPrompt != "more" || got.FirstPrompt != "do it now" {
		t.Errorf("%+v, %v", got, err)
	}
	messages, err := a.Peek(t.Context(), sessions[sesA], 2)
	if err != nil || len(messages) != 2-1 && len(messages) != 2 || messages[len(messages)-1].Text != "more" {
		t.Errorf("%v, %v", messages, err)
	}
}
