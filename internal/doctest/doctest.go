// Package doctest compares the tables of docs/ with the code that they describe,
// for the tests of the packages that own that code.
package doctest

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// Rows returns the cells of the table below a heading of a file in docs/, without
// the table's own head. Code marks around a cell are removed. A file, heading or
// table that does not exist fails the test.
func Rows(t testing.TB, file, heading string) [][]string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(root(t), "docs", file)))(t)
	rows := tableBelow(string(text), heading)
	if len(rows) == 0 {
		t.Fatalf("docs/%s has no table below the heading %q", file, heading)
	}
	return rows
}

// SameKeys fails the test unless the table below a heading lists exactly the JSON
// keys of the struct v, each with its type and whether an empty value is left out.
// The first three columns of the table are key, type and "left out".
func SameKeys(t testing.TB, file, heading string, v any) {
	t.Helper()
	var documented []string
	for _, row := range Rows(t, file, heading) {
		if len(row) < 4 || row[3] == "" {
			t.Errorf("docs/%s, %s: the row of %q has no meaning", file, heading, row[0])
			continue
		}
		documented = append(documented, strings.Join(row[:3], " | "))
	}
	SameSet(t, file, heading, documented, keys(reflect.TypeOf(v)))
}

// SameSet fails the test unless a table's entries are those of the code.
func SameSet(t testing.TB, file, heading string, documented, inCode []string) {
	t.Helper()
	for _, d := range documented {
		if !slices.Contains(inCode, d) {
			t.Errorf("docs/%s, %s: superfluous or wrong: %s", file, heading, d)
		}
	}
	for _, k := range inCode {
		if !slices.Contains(documented, k) {
			t.Errorf("docs/%s, %s: missing: %s", file, heading, k)
		}
	}
	if len(documented) > len(inCode) {
		t.Errorf("docs/%s, %s: %d rows for %d entries", file, heading, len(documented), len(inCode))
	}
}

// First returns the first cell of each row.
func First(rows [][]string) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r[0])
	}
	return out
}

// tableBelow returns the rows of the first table between a heading and the next
// one. The head of a table and the line below it are left out.
func tableBelow(text, heading string) [][]string {
	var rows [][]string
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "#") {
			inside = strings.TrimSpace(strings.TrimLeft(line, "#")) == heading
			continue
		}
		if !inside {
			continue
		}
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 0 {
				break
			}
			continue
		}
		rows = append(rows, cells(line))
	}
	if len(rows) < 2 {
		return nil
	}
	return rows[2:]
}

func cells(line string) []string {
	var out []string
	for c := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
		out = append(out, strings.Trim(strings.TrimSpace(c), "`"))
	}
	return out
}

// keys returns "key | type | left out" for each field that encoding/json writes.
func keys(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		if f.Anonymous && !tagged {
			out = append(out, keys(f.Type)...)
			continue
		}
		if !tagged || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		leftOut := "no"
		if strings.Contains(options, "omit") {
			leftOut = "when empty"
		}
		out = append(out, strings.Join([]string{name, kind(f.Type), leftOut}, " | "))
	}
	return out
}

// kind returns the JSON type of a Go type.
func kind(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "string"
	case t.Kind() == reflect.Pointer:
		return kind(t.Elem())
	case t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() == reflect.Slice:
		return "list"
	case t.Kind() == reflect.Map, t.Kind() == reflect.Struct:
		return "object"
	}
	return "number"
}

// root returns the folder of go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir := must.Get(os.Getwd())(t)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the working folder")
		}
		dir = filepath.Dir(dir)
	}
}
