package keep

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/metrics"
	"rollcall/app/settings"
	"rollcall/bounded"
)

const (
	metricsStep  = 15 * time.Second
	metricsRetry = time.Second // after an error
	// metricsLimit is the longest time for one request, and metricsHeader the largest header.
	metricsLimit  = 30 * time.Second
	metricsHeader = 8 << 10
	maxScrapes    = 4 // at once
)

// exporter serves the metrics, and writes them to a file, as the settings say now.
type exporter struct {
	k       *keeper
	server  *http.Server
	serving sync.WaitGroup
	address string // of server
	written string // the path of the file that was written
	scrapes chan struct{}

	mu   sync.Mutex
	ends map[adapters.Outcome]int
}

// export exports metrics until ctx is done. It counts the ends of sessions that events reports.
func (k *keeper) export(ctx context.Context, events *app.Events) error {
	e := &exporter{k: k, scrapes: make(chan struct{}, maxScrapes), ends: map[adapters.Outcome]int{}}
	var counting sync.WaitGroup
	counting.Go(func() { e.count(ctx, events) })
	defer counting.Wait()
	defer e.stop()
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
		s, _ := k.settings()
		next := metricsStep
		err := errors.Join(e.listen(&s.Metrics), e.write(ctx, s.Metrics.Textfile))
		text := ""
		if err != nil {
			next, text = metricsRetry, "metrics: "+err.Error()
		}
		k.troubles.Say("metrics", text)
		again.Reset(next)
	}
}

func (e *exporter) count(ctx context.Context, events *app.Events) {
	for {
		ev, err := events.Next(ctx)
		if err != nil {
			return
		}
		if ev.Kind == app.Ended && ev.Session.Parent == "" && !ev.Session.IsEmptyProcess() {
			e.mu.Lock()
			e.ends[ev.Session.Outcome]++
			e.mu.Unlock()
		}
	}
}

// look returns the state from which the metrics are made.
func (e *exporter) look(ctx context.Context) (metrics.Look, error) {
	look, err := metrics.Read(ctx, e.k.core.Snapshot(), e.k.Launches, e.k.Fuses)
	look.Limits = app.LimitsOf(ctx, e.k.Agents, 0)
	look.Version, look.Build = e.k.Version, e.k.Build
	ends := map[adapters.Outcome]int{}
	e.mu.Lock()
	maps.Copy(ends, e.ends)
	e.mu.Unlock()
	look.Keeper = metrics.NewKeeper(e.k.since, ends)
	return look, err
}

// listen serves the metrics at the address in the settings. It stops serving them at an earlier address.
func (e *exporter) listen(m *settings.Metrics) error {
	if e.address == m.Listen {
		return nil
	}
	e.close()
	if m.Listen == "" {
		return nil
	}
	l, err := net.Listen("tcp", m.Listen)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		if call, ok := errors.AsType[*os.SyscallError](err); ok {
			err = call.Err
		}
		return errors.New("cannot listen on " + m.Listen + ": " + err.Error())
	}
	host, _, _ := net.SplitHostPort(m.Listen)
	e.address = m.Listen
	e.server = &http.Server{Handler: e.handler(settings.IsLoopback(host)), ReadHeaderTimeout: metricsLimit, ReadTimeout: metricsLimit, WriteTimeout: metricsLimit,
		IdleTimeout: metricsLimit, MaxHeaderBytes: metricsHeader}
	server := e.server
	e.serving.Go(func() { _ = server.Serve(l) })
	return nil
}

// handler answers requests for the metrics. local makes it refuse requests for another host's name: a web page could let the
// name of its own host resolve to this machine.
func (e *exporter) handler(local bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		switch {
		case local && !settings.IsLoopback(host):
			http.Error(w, "not the name of this machine", http.StatusForbidden)
			return
		case r.URL.Path != "/metrics":
			http.Error(w, "the metrics are at /metrics", http.StatusNotFound)
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			http.Error(w, "use GET", http.StatusMethodNotAllowed)
			return
		}
		select {
		case e.scrapes <- struct{}{}:
			defer func() { <-e.scrapes }()
		default:
			http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
			return
		}
		look, err := e.look(r.Context())
		if err != nil {
			e.k.Log.Debug("metrics are incomplete", "error", err)
		}
		var b bytes.Buffer
		if err := look.Write(&b); err != nil {
			http.Error(w, "the metrics cannot be written", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(b.Bytes())
	})
}

// write writes the metrics to the file that the settings name.
func (e *exporter) write(ctx context.Context, path string) error {
	path = launch.Path(path)
	if e.written != "" && e.written != path {
		e.remove()
	}
	if path == "" {
		return nil
	}
	look, err := e.look(ctx)
	if err != nil {
		e.k.Log.Debug("metrics are incomplete", "error", err)
	}
	_, err = bounded.In(filepath.Dir(path), bounded.WriteLimit, func(context.Context) (struct{}, error) { return struct{}{}, look.WriteFile(path) })
	if err == nil {
		e.written = path
	}
	return err
}

// remove removes the metrics file, since its metrics would soon be out of date.
func (e *exporter) remove() {
	path := e.written
	e.written = ""
	_, _ = bounded.In(filepath.Dir(path), bounded.WriteLimit, func(context.Context) (struct{}, error) { return struct{}{}, os.Remove(path) })
}

func (e *exporter) close() {
	if e.server != nil {
		_ = e.server.Close()
	}
	e.server, e.address = nil, ""
	e.serving.Wait()
}

func (e *exporter) stop() {
	e.close()
	if e.written != "" {
		e.remove()
	}
}
