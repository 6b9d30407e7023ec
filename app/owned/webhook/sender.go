package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/store"
	"rollcall/app/store/fault"
	"rollcall/proc"
)

// Config configures a Sender.
type Config struct {
	// Target returns where messages go now. Without a URL no end is sent, unless there is an error: then ends wait.
	Target func() (Target, error)
	// Folder stores the messages that have not been delivered, and the sessions whose end is to be sent.
	Folder store.Folder
	// ExitCode returns the exit code of a session's process, or nil if it is unknown. It may wait for the code. ExitCode
	// may be nil.
	ExitCode func(ctx context.Context, s *app.Session) *int
	// LeftOut returns the agents that the settings leave out: only the ends of their launches are sent. It may be nil.
	LeftOut func() []adapters.Name
	// Alive reports whether a process runs.
	Alive func(proc.Identity) bool
	// Show is called with the reason why messages wait, and with an empty text once no message waits. It may be nil.
	Show func(string)
	Log  *slog.Logger
	// Pauses are the pauses after each attempt; the last one is repeated. nil: 1 s to 10 min.
	Pauses []time.Duration
}

var pauses = []time.Duration{time.Second, 5 * time.Second, 25 * time.Second, 2 * time.Minute, 10 * time.Minute}

const (
	maxSending = 8 // at once
	// shownFrom is the number of failed attempts after which the user is notified.
	shownFrom = 3
	// restPause is the longest pause between two checks of what is due.
	restPause = time.Hour
	// goneLimit is the time within which the end of a process is reported after it was seen. A session without a report
	// has stopped for another reason.
	goneLimit = 5 * time.Minute
)

// Sender posts a message for each session that ends. It repeats failed attempts until the message is older than Keep. Each
// Sender is used for one call of Run.
type Sender struct {
	cfg     Config
	client  *http.Client
	waiting atomic.Int64

	// The following fields belong to the goroutine of Run.
	ctx       context.Context
	working   sync.WaitGroup
	ready     chan made
	results   chan result
	messages  map[string]*message
	bytes     int
	making    int // messages that are being made
	sending   int
	locked    bool // this process has the folder's lock
	unlock    func()
	closing   bool
	sessions  []*Session
	done      []string  // the latest launches whose message was made
	early     []Session // sessions that ended before this process had the folder's lock
	dirty     bool      // sessions must be written
	writing   store.Pause
	listAt    time.Time // when sessions were last written
	loggedAt  time.Time
	lastError error
}

// made is a message that was made for the end of a session.
type made struct {
	message *message
	session *Session
}

// result is the result of an attempt.
type result struct {
	message *message
	status  int
	err     error
}

// New returns a sender.
func New(cfg Config) *Sender {
	if cfg.Pauses == nil {
		cfg.Pauses = pauses
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Show == nil {
		cfg.Show = func(string) {}
	}
	return &Sender{cfg: cfg, client: Client(limit), ready: make(chan made), results: make(chan result), messages: map[string]*message{}}
}

// Waiting returns the number of messages that have not been delivered. Any goroutine may call it.
func (s *Sender) Waiting() int { return int(s.waiting.Load()) }

// Run posts a message for each session of core that ends. It also posts late messages for sessions that an earlier process
// stored, and for the launches in running, if they have ended since. Run returns when ctx is done, or when events is closed
// and each message is stored or delivered. Messages do not wait for each other. Stored messages that were not delivered
// are sent by the next call, in this or another process, once no other process has the folder's lock.
func (s *Sender) Run(ctx context.Context, core *app.Core, events *app.Events, running []Session) error {
	ctx, cancel := context.WithCancel(ctx)
	s.ctx = ctx
	ended, held := s.listen(ctx, events)
	defer s.end(cancel, held)
	news := app.NewWakeup()
	defer core.Subscribe(func(*app.Snapshot) { news.Set() })()
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		due.Reset(s.startDue(fault.Now()))
		if s.closing && s.making == 0 && s.sending == 0 && s.isStored() {
			return nil
		}
		select {
		case <-ctx.Done():
			s.close()
			return nil
		case s.unlock = <-held:
			s.load(core.Snapshot(), running)
		case e, ok := <-ended:
			if !ok {
				ended = nil
				s.close()
				continue
			}
			s.ended(&e)
		case m := <-s.ready:
			s.made(m)
		case r := <-s.results:
			s.tried(r)
		case <-news:
			s.look(core.Snapshot())
		case <-due.C:
		}
		s.writeSessions()
	}
}

// listen starts what sends the ends of sessions, and the function that unlocks the folder once it is locked.
func (s *Sender) listen(ctx context.Context, events *app.Events) (<-chan app.Event, <-chan func()) {
	ended, held := make(chan app.Event), make(chan func(), 1)
	s.working.Go(func() { takeEnds(ctx, events, ended) })
	s.working.Go(func() { s.lock(held) })
	return ended, held
}

// end waits until the goroutines of Run have ended, and unlocks the folder.
func (s *Sender) end(cancel func(), held <-chan func()) {
	cancel()
	s.working.Wait()
	select {
	case s.unlock = <-held:
	default:
	}
	if s.unlock != nil {
		s.unlock()
	}
}

// takeEnds sends the ends of sessions to ended until events is closed or ctx is done, and then closes ended.
func takeEnds(ctx context.Context, events *app.Events, ended chan<- app.Event) {
	defer close(ended)
	for {
		e, err := events.Next(ctx)
		if err != nil {
			return
		}
		if e.Kind != app.Ended || !isSent(&e.Session) {
			continue
		}
		select {
		case ended <- e:
		case <-ctx.Done():
			return
		}
	}
}

// isSent reports whether the end of a session is sent: it is neither a sub-agent nor a process without a session.
func isSent(x *app.Session) bool { return x.Parent == "" && !x.IsEmptyProcess() }

// lock locks the folder once no other process has its lock, and sends held the function that unlocks it.
func (s *Sender) lock(held chan<- func()) {
	var pause store.Pause
	for s.ctx.Err() == nil {
		unlock, err := s.cfg.Folder.Lock(s.ctx)
		if err == nil {
			held <- unlock
			return
		}
		pause.Failed(time.Now())
		select {
		case <-time.After(pause.Left(time.Now())):
		case <-s.ctx.Done():
		}
	}
}

// load reads the messages and sessions that an earlier process has stored.
func (s *Sender) load(snap *app.Snapshot, running []Session) {
	s.locked = true
	if err := s.cfg.Folder.Sweep(time.Now()); err != nil {
		s.cfg.Log.Warn("the folder of the webhook's messages cannot be read", "error", err)
	}
	old, err := readMessages(s.cfg.Folder)
	if err != nil {
		s.cfg.Log.Warn("some messages of the webhook cannot be read", "error", err)
	}
	now := fault.Now()
	for _, m := range old {
		if m.At.After(now) { // the clock was set back
			m.At = now
		}
		if s.messages[m.ID] == nil {
			s.add(m)
		}
	}
	var left sessions
	if err := s.cfg.Folder.Read(list, &left); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.cfg.Log.Warn("it is not known which sessions ended while no keeper ran", "error", err)
	}
	s.listAt = left.At
	s.inherit(&left, running)
	s.look(snap)
}

// ended makes the message about the end of a session.
func (s *Sender) ended(e *app.Event) {
	x := s.find(&e.Session)
	if to, err := s.cfg.Target(); to.URL == "" && err == nil {
		if x != nil {
			s.forget(x)
		}
		return
	}
	if x != nil && x.state == ending && x.Process == e.Process {
		return // this message is sent late
	}
	if x == nil || x.state == ending {
		entry := newSession(&e.Session)
		entry.Delivery = newID()
		x = &entry
		s.sessions = append(s.sessions, x)
	}
	if !s.locked {
		s.early = append(s.early, newSession(&e.Session))
	}
	ev := *e
	s.make(x, func(ctx context.Context) Payload { return s.payload(ctx, &ev) })
}

// make makes the message about a session, in the background, since it may have to wait for the exit code.
func (s *Sender) make(x *Session, payload func(context.Context) Payload) {
	x.state = ending
	s.making++
	id := x.Delivery
	s.working.Go(func() {
		p := payload(s.ctx)
		p.DeliveryID = id
		select {
		case s.ready <- made{&message{ID: id, At: fault.Now(), Payload: p}, x}:
		case <-s.ctx.Done():
		}
	})
}

// made stores a message that was made.
func (s *Sender) made(m made) {
	s.making--
	fault.Point("webhook.made")
	if s.cfg.LeftOut == nil || m.session.Launch != "" || !slices.Contains(s.cfg.LeftOut(), m.session.Agent) {
		s.add(m.message)
	}
	fault.Point("webhook.stored")
	s.forget(m.session)
	if l := m.session.Launch; l != "" {
		s.done = append(s.done, l)
		s.done = s.done[max(len(s.done)-maxDone, 0):]
	}
}

// add adds a message to those that wait, and stores it.
func (s *Sender) add(m *message) {
	body, err := json.Marshal(m.Payload)
	if err != nil || len(body) > maxBytes {
		s.cfg.Log.Warn("webhook message dropped: it is too large", "session", m.Payload.SessionID)
		return
	}
	m.size = len(body)
	for len(s.messages) >= maxMessages || s.bytes+m.size > maxBytes {
		oldest := slices.MinFunc(slices.Collect(maps.Values(s.messages)), func(a, b *message) int { return a.At.Compare(b.At) })
		s.cfg.Log.Warn("webhook message dropped: too many wait for the server", "session", oldest.Payload.SessionID, "waiting", len(s.messages))
		s.drop(oldest)
	}
	s.messages[m.ID] = m
	s.bytes += m.size
	s.waiting.Store(int64(len(s.messages)))
	s.store(m)
	m.last = s.closing && !m.stored
}

// store stores a message. If that fails the message is sent from memory.
func (s *Sender) store(m *message) {
	if m.stored || s.writing.Left(time.Now()) > 0 {
		return
	}
	if err := s.cfg.Folder.Write(m.ID, m); err != nil {
		s.failed("a message of the webhook cannot be stored, and is lost if the keeper is killed", err)
		return
	}
	m.stored = true
	s.writing.Succeeded()
}

// failed begins a pause for writes.
func (s *Sender) failed(what string, err error) {
	if !errors.Is(err, store.ErrNotWritten) {
		return
	}
	s.writing.Failed(time.Now())
	s.log(time.Minute, what, "cause", store.Cause(err), "error", err)
}

// log writes a line, unless it wrote one within the interval.
func (s *Sender) log(interval time.Duration, what string, args ...any) {
	if s.loggedAt.IsZero() || time.Since(s.loggedAt) >= interval {
		s.loggedAt = time.Now()
		s.cfg.Log.Warn(what, args...)
	}
}

// drop removes a message.
func (s *Sender) drop(m *message) {
	if s.messages[m.ID] != m {
		return
	}
	delete(s.messages, m.ID)
	s.bytes -= m.size
	s.waiting.Store(int64(len(s.messages)))
	if m.stored {
		if err := s.cfg.Folder.Remove(m.ID); err != nil {
			s.cfg.Log.Warn("a message of the webhook cannot be removed and may be sent again", "error", err)
		}
	}
}

// show shows the user why messages wait.
func (s *Sender) show() {
	n := 0
	for _, m := range s.messages {
		if m.tries >= shownFrom {
			n++
		}
	}
	if n == 0 {
		s.cfg.Show("")
		return
	}
	s.cfg.Show(fmt.Sprintf("webhook: %s; the messages are sent again for 24 hours", present.Line(s.lastError.Error())))
}

// close prepares for the end of Run: messages that could not be stored get one more attempt.
func (s *Sender) close() {
	s.closing = true
	for _, m := range s.messages {
		s.store(m)
		if !m.stored {
			m.last, m.next = true, time.Time{}
		}
	}
}

func (s *Sender) isStored() bool {
	for _, m := range s.messages {
		if !m.stored {
			return false
		}
	}
	return true
}
