package copilot

import (
	"fmt"
	"os"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

// 2,000 sessions of about 100 KB, and one that runs.
func BenchmarkDiscover(b *testing.B) {
	w := fixture{scene.New(b)}
	records := []string{}
	for range 20 {
		records = append(records, prompted, begun, `system.message {"content":"`+fmt.Sprintf("%05000d", 1)+`"}`, called, `tool.execution_complete {"toolCallId":"c1"}`, ended)
	}
	old := time.Now().Add(-time.Hour)
	for i := range 2000 {
		path := w.put(fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i), "1.0.102", records...)
		must.Do(b, os.Chtimes(path, old, old))
	}
	w.put(idB, "1.0.102", prompted, begun)
	w.run(idB, time.Minute, scene.Spec{})
	run := func(name string, q adapters.Query, fresh bool) {
		b.Run(name, func(b *testing.B) {
			a := w.adapter()
			for b.Loop() {
				if fresh {
					a = w.adapter()
				}
				if roll, err := a.Discover(b.Context(), q); err != nil || len(roll.Sessions) == 0 {
					b.Fatal(len(roll.Sessions), err)
				}
			}
		})
	}
	run("first", adapters.Query{}, true)
	run("again", adapters.Query{}, false)
	run("live", adapters.Query{Since: time.Now()}, false)
	run("one", adapters.Query{IDs: []string{idB}}, true)
}
