package coverage

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// Each line that names a test names one that exists, and each other one says why none runs it.
func TestLinesNameTestsThatExist(t *testing.T) {
	exists := map[string]bool{}
	for _, folder := range []string{"..", "../../harness", "../../../adapters/all"} {
		paths := must.Get(filepath.Glob(folder + "/*_test.go"))(t)
		for _, path := range paths {
			file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))(t)
			for _, declared := range file.Decls {
				if f, is := declared.(*ast.FuncDecl); is && f.Recv == nil {
					exists[f.Name.Name] = true
				}
			}
		}
	}
	paths := must.Get(fs.Glob(tables, "*.md"))(t)
	if len(paths) < 13 {
		t.Fatalf("%d tables", len(paths))
	}
	for _, path := range paths {
		table := must.Get(Open(strings.TrimSuffix(path, ".md")))(t)
		for _, l := range table.Lines {
			tests := l.Tests()
			for _, test := range tests {
				if !exists[test] {
					t.Errorf("%s: %q names %s, which does not exist", path, l.Names, test)
				}
			}
			if len(tests) == 0 && !strings.HasPrefix(l.Runs, "none") || l.Does == "" {
				t.Errorf("%s: %q: name a test, or write \"none: \" and why: %q", path, l.Names, l.Runs)
			}
		}
		if table.Changelog != table.Version {
			t.Errorf("%s is of %s, and its changelog was read for %q", path, table.Version, table.Changelog)
		}
		if twice := repeated(table.names()); len(twice) > 0 {
			t.Errorf("%s: named twice: %q", path, twice)
		}
	}
}

func repeated(names []string) (twice []string) {
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			twice = append(twice, names[i])
		}
	}
	return twice
}

func TestHelp(t *testing.T) {
	for name, test := range map[string]struct {
		text            string
		command         []string
		flags, commands string
	}{
		"commander": {"Usage: claude [options]\n\nOptions:\n  -c, --continue   Go on\n  --bg, --background   Like --this\n                   --that is text\n  -h, --help  Help\n" +
			"\nCommands:\n  agents [options]   Manage\n                     more\n  plugin|plugins  Manage\n  help [command]  Help\n", []string{"claude"},
			"--bg --continue --that", "agents plugin"},
		"clap": {"Usage: grok\n\nOptions:\n      --cwd <CWD>\n          Where\n\n  -C <DIR>\n          Where\n\nCommands:\n  exec    Run [aliases: e]\n  help  Help\n", []string{"grok"},
			"--cwd -C", "exec"},
		"yargs": {"Commands:\n  opencode run [message..]  run\n  opencode [project]        start\n\nOptions:\n  -s, --session  id\n      --fork     copy\n", []string{"opencode"},
			"--fork --session", "run"},
		"yargs, below": {"opencode session\n\nCommands:\n  opencode session list    list\n", []string{"opencode", "session"}, "", "list"},
		"omp":          {"FLAGS\n  -p, --print    Print\n\nCOMMANDS\n  acp   Serve\n\nUseful Commands:\n  omp agents unpack - Write\n", []string{"omp"}, "--print", "acp"},
		"openclaw":     {"Commands:\n  Hint: commands with * have more.\n  acp *     Run\n            more\n", []string{"openclaw"}, "", "acp"},
	} {
		flags, commands := Help(test.text, test.command)
		if strings.Join(flags, " ") != test.flags || strings.Join(commands, " ") != test.commands {
			t.Errorf("%s: %q and %q", name, flags, commands)
		}
	}
}

// A new flag has no line, one that is gone has one, and what a star stands for needs none.
func TestCompare(t *testing.T) {
	table, err := parse("# Agent 1.2\n\n| feature | what | run by |\n| --- | --- | --- |\n| `--resume`, `stop` | opens | TestX |\n\nNot about sessions: `--model` `mcp *` `--old`\n\n## Read\n\n" +
		"| `/clear` | begins | none: no |\n")
	must.Do(t, err)
	without, gone := table.Compare([]string{"--resume", "--model", "exec --model", "stop", "stop --all", "mcp", "mcp add", "mcp add --new", "fork"})
	if strings.Join(without, ", ") != "stop --all, fork" || strings.Join(gone, ", ") != "--old" || table.Version != "1.2" || !table.Closed("mcp") || table.Closed("stop") {
		t.Errorf("without a line: %q; gone: %q; %+v", without, gone, table)
	}
	if _, err := parse("# Agent 1\n| `--x` | y |\n"); err == nil {
		t.Error("a line with two cells")
	}
	if _, err := Open("nobody"); err == nil || !os.IsNotExist(err) && !strings.Contains(err.Error(), "coverage/nobody.md") {
		t.Error(err)
	}
}

// What a changelog says of sessions after the version that was read is news, where the table names none of it.
func TestNews(t *testing.T) {
	table, err := parse("# Agent 1.10.0\n\n| `--old` | opens | none: no |\n\n## Changelog\n\nRead for 1.10.0: from 1.8.0 to 1.9.0, which is in its package.\n\n" +
		"| `/move` | moves the session | none yet |\n")
	must.Do(t, err)
	news := table.News("# Changelog\n\n## [1.11.0] - 2026-11-20\n\n### Added\n\n- A colour.\n- Sessions can be forked.\n- `/move` takes a session along.\n- Shows the obsessions.\n" +
		"\n## 1.9.0\n\n- Resumes a session.\n")
	if strings.Join(news, ", ") != "Sessions can be forked." || table.Changelog != "1.10.0" || table.ReadTo != "1.9.0" || !slices.Equal(table.Read, []string{"/move"}) {
		t.Errorf("%q: %+v", news, table)
	}
}
