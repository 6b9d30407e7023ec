package machine

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"time"

	"rollcall/app/present"
	"rollcall/bounded"
)

// The limits of what a machine may send.
const (
	maxLine     = 1 << 20 // bytes
	maxBanner   = 64      // lines that a shell's start files print before the stream
	maxSessions = 5000    // rows
	maxRate     = 5000    // lines a second, once the roll is complete
	// maxRoll is the largest number of lines before the roll is complete: each row, which may be more than maxSessions, and the rows that change while the agents
	// there answer. A real Rollcall sends far fewer; the limit is for a machine that would never send its roll.
	maxRoll = 20 * maxSessions
)

// The limits of waiting.
const (
	helloLimit  = 30 * time.Second // limit for the first line
	heartbeat   = 15 * time.Second // interval that is requested from the other side
	lostBeats   = 3                // a connection is dead when a heartbeat is this many intervals late
	minSilence  = 3 * time.Second
	maxSilence  = 5 * time.Minute
	endLimit    = 5 * time.Second // limit for the process to end after its output has ended
	inputGrace  = time.Second     // limit for the process to end after its input was closed; less than killGrace
	schemaKnown = 1
)

// errDone ends a stream whose reader has all that it wants.
var errDone = errors.New("done")

// line is one line of a stream.
type line struct {
	Schema  int          `json:"schema"`
	Event   string       `json:"event"`
	At      time.Time    `json:"at"`
	Session *SessionJSON `json:"session"`
	Was     *SessionJSON `json:"was"`
	Process string       `json:"process"`
	Removed *RemovedJSON `json:"removed"`
	Adapter *AdapterJSON `json:"adapter"`
	Hello   *HelloJSON   `json:"hello"`
	// Of a Program alone:
	Request  json.RawMessage `json:"request"`
	Answered *answeredJSON   `json:"answered"`
}

// stream reads one connection to its end. take gets each line on this goroutine; the first is the hello. The error is never nil: it says why the connection
// ended. If take returns errDone, the error is errDone.
func (h *Host) stream(ctx context.Context, args []string, take func(l *line) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	name, argv := h.rollcall(false, args...)
	cmd := h.command(ctx, name, argv)
	said := bounded.Tail{Max: maxTail}
	cmd.Stderr = &said
	in, err := cmd.StdinPipe() // stays open, because the other side ends when its input is closed
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	ended := endByInput(cmd, in, out)
	defer ended()
	if err := cmd.Start(); err != nil {
		return h.reason(err, "")
	}
	r := &reader{host: h, in: bufio.NewReaderSize(out, 64<<10), cancel: cancel}
	r.watchdog = time.AfterFunc(helloLimit, func() {
		cancel(failure("%s: connected, but Rollcall did not answer within %s", present.Line(h.target()), present.Age(helloLimit)))
	})
	err = r.read(ctx, take)
	r.watchdog.Stop()
	if errors.Is(err, io.EOF) { // the process ends by itself, and its exit code and messages give the reason
		_ = in.Close()
		end := time.AfterFunc(endLimit, func() { cancel(failure("the connection was closed")) })
		err = h.reason(cmd.Wait(), said.String())
		end.Stop()
	} else {
		cancel(err)
		_, _ = io.Copy(io.Discard, out) // a process that cannot write does not see that its input is closed
		_ = cmd.Wait()
	}
	if why, ok := errors.AsType[*Error](context.Cause(ctx)); ok {
		return why
	}
	return err
}

// endByInput makes the end of cmd's context close the input of cmd, at which the Rollcall on the other side ends, and with it what connects
// to it. A signal to a container's client would end the client alone: podman 4.3 may then leave the Rollcall in the container running. What
// runs after inputGrace is terminated, and its output is closed, since a process that ssh left behind may keep the other end open. The caller calls
// ended once it has waited for cmd.
func endByInput(cmd *exec.Cmd, in, out io.Closer) (ended func()) {
	done := make(chan struct{})
	terminate := cmd.Cancel
	cmd.Cancel = func() error {
		_ = in.Close()
		go func() {
			select {
			case <-done:
			case <-time.After(inputGrace):
				_ = terminate()
				_ = out.Close()
			}
		}()
		return nil
	}
	return func() { close(done) }
}

// reader reads the lines of one connection.
type reader struct {
	host     *Host
	in       *bufio.Reader
	watchdog *time.Timer
	cancel   context.CancelCauseFunc
	silence  time.Duration // the time without a line after which the connection counts as dead; 0: before the hello
	banner   string        // the first line before the hello
	others   int           // lines before the hello
	rolled   bool
	unrolled int       // lines between the hello and the roll
	second   time.Time // the second in which lines are counted
	count    int
}

// read calls take for each line until one cannot be used. Its error is io.EOF at the end of the stream.
func (r *reader) read(ctx context.Context, take func(l *line) error) error {
	for {
		text, err := r.next()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		l, err := decode(text)
		switch {
		case r.silence == 0 && (err != nil || l.Event != "hello" || l.Hello == nil || l.Schema > schemaKnown):
			if err := r.before(text, l); err != nil {
				return err
			}
			continue
		case r.silence == 0:
			r.greeted(l)
		case err != nil:
			return failure("%s sent a line that is not Rollcall's: %s", present.Line(r.host.target()), excerpt(text))
		}
		r.watchdog.Reset(r.silence)
		if err := r.untilRoll(l); err != nil {
			return err
		}
		if err := take(l); err != nil {
			return err
		}
		if err := r.pace(ctx); err != nil {
			return err
		}
	}
}

// before skips a line that a shell's start files printed before the stream, and returns an error after too many. l is nil if the line is not a line of a
// stream.
func (r *reader) before(text []byte, l *line) error {
	if l != nil && l.Schema > schemaKnown {
		return failure("the Rollcall there is too new for this one (schema %d, this one knows %d): update this one", l.Schema, schemaKnown)
	}
	r.banner = cmp.Or(r.banner, excerpt(text))
	if r.others++; r.others > maxBanner {
		return failure("what %s prints is not Rollcall's stream, it begins with: %s; its shell's start files must print nothing", present.Line(r.host.target()), r.banner)
	}
	return nil
}

// greeted starts to wait for heartbeats at the interval that the hello contains.
func (r *reader) greeted(l *line) {
	r.silence = min(max(time.Duration(l.Hello.Heartbeat)*time.Second*lostBeats, minSilence), maxSilence)
	r.watchdog.Stop()
	r.watchdog = time.AfterFunc(r.silence, func() {
		r.cancel(failure("no data from %s for %s", present.Line(r.host.target()), present.Age(r.silence)))
	})
}

// excerpt returns the beginning of a line for a message.
func excerpt(text []byte) string {
	return present.Cut(present.Line(string(text[:min(len(text), 1000)])), 80)
}

// next returns the next line without its end. It does not read a line that is longer than maxLine.
func (r *reader) next() ([]byte, error) {
	var long []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if len(long)+len(part) > maxLine {
			return nil, failure("%s sent a line of more than 1 MB, which Rollcall never does", present.Line(r.host.target()))
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			long = append(long, part...)
			continue
		case err != nil:
			return nil, io.EOF
		case long != nil:
			part = append(long, part...)
		}
		return bytes.TrimSpace(part), nil
	}
}

// untilRoll counts the lines before the roll is complete.
func (r *reader) untilRoll(l *line) error {
	r.rolled = r.rolled || l.Event == "roll"
	if r.rolled {
		return nil
	}
	if r.unrolled++; r.unrolled > maxRoll {
		return failure("%s sent more than %d lines and no complete list of its sessions", present.Line(r.host.target()), maxRoll)
	}
	return nil
}

// pace slows down the reading if a machine sends more lines than a real Rollcall would: handling them takes time, and other machines must not have to wait for
// it.
func (r *reader) pace(ctx context.Context) error {
	if !r.rolled {
		return nil
	}
	now := time.Now()
	if now.Sub(r.second) > time.Second {
		r.second, r.count = now, 0
	}
	if r.count++; r.count < maxRate {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Second - now.Sub(r.second)):
		return nil
	}
}

// decode reads a line. An unknown event is no error.
func decode(text []byte) (*line, error) {
	if len(text) == 0 || text[0] != '{' {
		return nil, errors.New("no object")
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, err
	}
	if l.Schema < 1 || l.Event == "" {
		return nil, errors.New("no event")
	}
	return &l, nil
}
