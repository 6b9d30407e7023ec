package qwen

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
	"rollcall/proc/localsocket"
)

const (
	inboxPause = 100 * time.Millisecond // between two looks at the session's file
	maxMessage = 512 << 10              // of a prompt in bytes: an inbox takes lines of a million characters
)

// controller is the form of a controller token, which "qwen sessions controllers add" prints among other text (0.24.4).
var controller = regexp.MustCompile(`\bqpc_[0-9a-f]{64}\b`)

// sendToInbox gives a prompt to a terminal that Rollcall did not launch: the inbox that its entry in the registry names (0.24.4), with the controller token that
// the user made. The entry is the agent's own word, so that the token goes only to a socket on which the process of the session listens, and that is in the
// boundary. An inbox replies nothing: that the session began with the prompt shows its file.
func (a *Adapter) sendToInbox(ctx context.Context, s *adapters.Session, prompt string) error {
	token := controller.FindString(a.token())
	switch {
	case token == "" || len(s.Files) == 0:
		return fmt.Errorf("%w: %w; it takes prompts with a controller token and after its first prompt, see agents.%s.token_file of the settings",
			adapters.ErrAnswerElsewhere, errNoRemote, Name)
	case s.Status != adapters.Idle:
		return fmt.Errorf("%w: the inbox of Qwen Code does not confirm what it queues", adapters.ErrBusy)
	case len(prompt) > maxMessage:
		return fmt.Errorf("the prompt is longer than %d KB, which the inbox of Qwen Code does not take", maxMessage>>10)
	}
	before, err := a.factsOf(ctx, s)
	if err == nil {
		err = a.putIntoInbox(ctx, s, token, prompt)
	}
	for err == nil {
		now, readErr := a.factsOf(ctx, s)
		if readErr == nil && now.prompted.After(before.prompted) {
			return nil
		}
		if bounded.Wait(ctx, inboxPause) != nil {
			err = fmt.Errorf("%w: Qwen Code has not begun with the prompt: it may hold it for /peers, or not know the token", adapters.ErrUnconfirmed)
		}
	}
	return err
}

// putIntoInbox sends the two lines of a message.
func (a *Adapter) putIntoInbox(ctx context.Context, s *adapters.Session, token, prompt string) error {
	path := a.inboxOf(s)
	if err := localsocket.Check(path); err != nil {
		return fmt.Errorf("%w: the inbox that the registry names: %w", adapters.ErrAnswerElsewhere, err)
	}
	conn, err := localsocket.Dial(ctx, path)
	if err != nil {
		return fmt.Errorf("%w: the token was not sent: %w", adapters.ErrNotAllowed, err)
	}
	defer func() { _ = conn.Close() }()
	if peer, _, err := localsocket.Peer(conn); err != nil || peer.Identity != s.Process {
		return fmt.Errorf("%w: the token was not sent: another process than that of the session listens on %s", adapters.ErrNotAllowed, path)
	}
	auth, _ := json.Marshal(map[string]any{"msgV": 1, "type": "auth", "token": token}) // texts can always be marshalled
	message, _ := json.Marshal(map[string]any{"msgV": 1, "type": "user", "msgId": kit.New(), "fromName": "Rollcall", "fromMode": "prompting", "toSessionId": s.ID,
		"message": map[string]string{"role": "user", "content": prompt}})
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	_, err = fmt.Fprintf(conn, "%s\n%s\n", auth, message)
	return err
}

// inboxOf returns the socket that the entry of a session's process in the registry names; empty: there is none.
func (a *Adapter) inboxOf(s *adapters.Session) string {
	env, _ := a.Table.Env(s.Process)
	home, _ := homesOf(func(name string) string { return kit.Get(env, name) }, kit.Get(env, kit.Home))
	entry, _, err := agentfile.ReadSmall(filepath.Join(home, "sessions", strconv.Itoa(s.Process.PID)+".json"), maxEntry)
	if err != nil || kit.Short(agentfile.Get(entry, "sessionId")) != s.ID {
		return ""
	}
	return kit.Short(agentfile.Get(entry, "ipcPath"))
}
