// Command judge says of each command of a list whether one key allows it in a session of a folder: judge FOLDER [cmd|file|tool] < list. It reads one request
// a line, in which \NL is a line break, \TAB a tab and /home/u/proj the folder. The environment of the agent is its own. The attacks on the rule use it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"rollcall/adapters"
	"rollcall/app/control/reading"
	"rollcall/app/control/risk"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: judge FOLDER [cmd|file|tool] < list")
		os.Exit(2)
	}
	folder, kind := os.Args[1], adapters.AsksCommand
	if len(os.Args) > 2 {
		kind = map[string]adapters.RequestKind{"cmd": adapters.AsksCommand, "file": adapters.AsksFileChange, "tool": adapters.AsksPermission}[os.Args[2]]
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	counts := map[string]int{}
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "##") {
			continue
		}
		text := strings.NewReplacer(`\NL`, "\n", `\TAB`, "\t", "@P@", folder, "/home/u/proj", folder).Replace(line)
		r := &adapters.Request{Kind: kind, Text: text, Folder: folder}
		dangers := risk.Dangers(r, folder)
		verdict := "ordinary"
		switch {
		case reading.Is(r, reading.Place{Folder: folder, Env: os.Environ()}):
			verdict = "ONEKEY"
		case len(dangers) > 0:
			verdict = "DANGER"
		}
		counts[verdict]++
		fmt.Printf("%-8s %s\t%v\n", verdict, strings.ReplaceAll(text, "\n", `\NL`), dangers)
	}
	fmt.Printf("TOTAL %d marked %d onekey %d ordinary %d\n", counts["DANGER"]+counts["ONEKEY"]+counts["ordinary"], counts["DANGER"], counts["ONEKEY"], counts["ordinary"])
}
