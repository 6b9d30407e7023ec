package modelserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// eventStream writes server-sent events. The first error sticks; the client is
// gone then, and further events are dropped.
type eventStream struct {
	w   http.ResponseWriter
	err error
}

func newEventStream(w http.ResponseWriter) *eventStream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	return &eventStream{w: w}
}

// send writes one event, whose JSON names its own type as the Messages and the Responses API want it.
func (e *eventStream) send(name string, fields map[string]any) {
	if e.err != nil {
		return
	}
	fields["type"] = name
	data, err := json.Marshal(fields)
	if err != nil {
		e.err = err
		return
	}
	e.write(fmt.Sprintf("event: %s\ndata: %s\n\n", name, data))
}

// sendData writes one event without a name, as chat completions have them.
func (e *eventStream) sendData(fields map[string]any) {
	data, err := json.Marshal(fields)
	if err != nil && e.err == nil {
		e.err = err
	}
	e.write(fmt.Sprintf("data: %s\n\n", data))
}

func (e *eventStream) write(event string) {
	if e.err != nil {
		return
	}
	_, e.err = io.WriteString(e.w, event)
	if e.err == nil {
		e.err = http.NewResponseController(e.w).Flush()
	}
}
