package proc

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32           = windows.NewLazySystemDLL("kernel32.dll")
	registerWait       = kernel32.NewProc("RegisterWaitForSingleObject")
	unregisterWaitEx   = kernel32.NewProc("UnregisterWaitEx")
	waitCallback       = sync.OnceValue(func() uintptr { return windows.NewCallback(waitEnded) })
	lastToken          atomic.Uintptr
	waiting            sync.Map       // token -> *handleWaits
	executeOnlyOnce    = uintptr(0x8) // WT_EXECUTEONLYONCE
	infinite           = uintptr(windows.INFINITE)
	untilCallbacksDone = uintptr(windows.InvalidHandle)
)

// handleWaits waits for the end of processes: the system's thread pool waits for their handles,
// 63 with one thread, and calls back. This code was run under Wine 8 only.
type handleWaits struct {
	wake chan struct{} // holds one value

	mu     sync.Mutex
	ended  []uintptr // tokens
	tokens map[Identity]uintptr
	open   map[uintptr]*handleWait
	closed bool
}

type handleWait struct {
	id      Identity
	process windows.Handle
	wait    windows.Handle
}

func newExitEvents(*Table) (exitEvents, error) {
	if err := errors.Join(registerWait.Find(), unregisterWaitEx.Find()); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoEvent, err)
	}
	return &handleWaits{wake: make(chan struct{}, 1), tokens: make(map[Identity]uintptr), open: make(map[uintptr]*handleWait)}, nil
}

// waitEnded runs on a thread of the system's pool.
func waitEnded(token, _ uintptr) uintptr {
	if h, ok := waiting.Load(token); ok {
		h.(*handleWaits).noteEnd(token)
	}
	return 0
}

func (h *handleWaits) noteEnd(token uintptr) {
	h.mu.Lock()
	h.ended = append(h.ended, token)
	h.mu.Unlock()
	h.signal()
}

func (h *handleWaits) signal() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *handleWaits) add(id Identity) error {
	process, err := openProcess(id, 0)
	if err != nil {
		return err
	}
	token := lastToken.Add(1)
	w := &handleWait{id: id, process: process}
	h.mu.Lock()
	h.tokens[id], h.open[token] = token, w
	h.mu.Unlock()
	waiting.Store(token, h)
	ok, _, err := registerWait.Call(uintptr(unsafe.Pointer(&w.wait)), uintptr(process), waitCallback(), token, infinite, executeOnlyOnce)
	if ok == 0 {
		h.remove(id)
		return fmt.Errorf("RegisterWaitForSingleObject: %w", err)
	}
	return nil
}

func (h *handleWaits) remove(id Identity) {
	h.mu.Lock()
	token, ok := h.tokens[id]
	w := h.open[token]
	delete(h.tokens, id)
	delete(h.open, token)
	h.mu.Unlock()
	if ok {
		w.release(token)
	}
}

// release frees the resources of the wait. The caller must not hold the lock: release
// waits for a callback that is running.
func (w *handleWait) release(token uintptr) {
	if w.wait != 0 {
		_, _, _ = unregisterWaitEx.Call(uintptr(w.wait), untilCallbacksDone)
	}
	waiting.Delete(token)
	_ = windows.CloseHandle(w.process)
}

func (h *handleWaits) wait() ([]Identity, bool) {
	<-h.wake
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, false
	}
	var ids []Identity
	for _, token := range h.ended {
		if w, ok := h.open[token]; ok {
			ids = append(ids, w.id)
		}
	}
	h.ended = nil
	return ids, true
}

func (h *handleWaits) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.signal()
}

func (h *handleWaits) free() {
	for token, w := range h.open {
		w.release(token)
	}
}
