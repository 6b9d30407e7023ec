// Command make writes a corpus of sessions: see package corpus.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"rollcall/internal/corpus"
)

func main() {
	dir := flag.String("out", "build/corpus", "folder to write; must not exist")
	o := corpus.Options{Now: time.Now()}
	flag.IntVar(&o.Sessions, "n", 1000, "sessions in all")
	flag.IntVar(&o.Live, "live", 10, "how many have a live process")
	flag.Uint64Var(&o.Seed, "seed", 1, "the same seed writes the same corpus")
	flag.Float64Var(&o.Scale, "scale", 1, "of the transcripts' sizes")
	flag.Parse()
	m, err := corpus.Write(*dir, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d sessions, %.2f GB\n", *dir, len(m.Sessions), float64(m.Bytes)/1e9)
}
