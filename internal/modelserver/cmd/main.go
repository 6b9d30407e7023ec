// Command cmd serves the models of package modelserver on loopback, for trying
// an agent by hand.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"rollcall/internal/modelserver"
)

func main() {
	address := flag.String("listen", "127.0.0.1:8123", "loopback address to listen on")
	dump := flag.String("dump", "", "write the body of each request into this folder")
	flag.Parse()
	if err := run(*address, *dump); err != nil {
		fmt.Fprintln(os.Stderr, "modelserver:", err)
		os.Exit(1)
	}
}

func run(address, dump string) error {
	server, err := modelserver.Start(address)
	if err != nil {
		return err
	}
	if dump != "" {
		server.Observe(func(_ string, body []byte) { writeDump(dump, body) })
	}
	fmt.Println(server.URL())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-stop
		_ = server.Close()
	}()
	return server.Wait()
}

func writeDump(folder string, body []byte) {
	file, err := os.CreateTemp(folder, "request-*.json")
	if err != nil {
		fmt.Fprintln(os.Stderr, "modelserver:", err)
		return
	}
	defer file.Close()
	if _, err := file.Write(body); err != nil {
		fmt.Fprintln(os.Stderr, "modelserver:", err)
	}
}
