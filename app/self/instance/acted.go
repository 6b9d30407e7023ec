package instance

import "time"

// actedLimit is how long TellActed waits for the tray. A tray on the same machine takes a millisecond.
const actedLimit = 300 * time.Millisecond

// TellActed reports to the tray that the user is about to end a session, or its turn, so that the tray does not notify the user of that. Without a tray, or
// with one that does not answer in time, it does nothing.
func TellActed(session string) {
	sent := make(chan struct{})
	go func() {
		_ = Send(Tray, Message{Verb: Acted, Session: session}) // without it the user gets one notification more
		close(sent)
	}()
	select {
	case <-sent:
	case <-time.After(actedLimit):
	}
}
