// Command make writes a corpus of sessions; or, with -serve, is the OpenClaw
// gateway of one until it is interrupted; or, with -check, compares what
// `rollcall list --all --since all --json` prints of one with its truth: see
// package corpus.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"rollcall/internal/corpus"
)

func main() {
	dir := flag.String("out", "", "folder of the corpus; when it is written it must not exist (default: in the user's cache folder)")
	check := flag.Bool("check", false, "compare the list on standard input with the corpus")
	serve := flag.Bool("serve", false, "be the gateway of the corpus")
	served := flag.Bool("served", false, "with -check: the gateway was served")
	o := corpus.Options{Now: time.Now()}
	flag.IntVar(&o.Sessions, "n", 1000, "sessions in all, without the gateway's")
	flag.IntVar(&o.Live, "live", 10, "how many have a live process")
	flag.IntVar(&o.Gateway, "gateway", 0, "sessions of an OpenClaw gateway on top")
	flag.Uint64Var(&o.Seed, "seed", 1, "the same seed writes the same corpus")
	flag.Float64Var(&o.Scale, "scale", 1, "of the sessions' sizes")
	flag.Parse()
	if err := run(*dir, *check, *serve, *served, o); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run(dir string, check, serve, served bool, o corpus.Options) error {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		dir = filepath.Join(cache, "rollcall-corpus", fmt.Sprintf("%d-%d", o.Sessions, o.Seed))
	}
	switch {
	case check:
		return compare(dir, served)
	case serve:
		return serveGateway(dir)
	}
	began := time.Now()
	m, err := corpus.Write(dir, o)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d sessions, %d files, %.2f GB in %.0f s\n", dir, len(m.Sessions), m.Files, float64(m.Bytes)/1e9, time.Since(began).Seconds())
	return nil
}

func serveGateway(dir string) error {
	man, err := corpus.Read(dir)
	if err != nil {
		return err
	}
	g, err := corpus.Serve(dir, man)
	if err != nil {
		return err
	}
	defer g.Close()
	fmt.Printf("%s: %d sessions\n", g.URL(), len(man.Gateway))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	return nil
}

func compare(dir string, served bool) error {
	man, err := corpus.Read(dir)
	if err != nil {
		return err
	}
	got, err := corpus.ReadList(os.Stdin)
	if err != nil {
		return err
	}
	wrong := corpus.Compare(man.Truths(served), got)
	for i, line := range wrong {
		if i == 40 {
			fmt.Println("…")
			break
		}
		fmt.Println(line)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d differences between the list of %d and the %d sessions there are", len(wrong), len(got), len(man.Truths(served)))
	}
	fmt.Printf("all %d sessions are listed, and right\n", len(got))
	return nil
}
