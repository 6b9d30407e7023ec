//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// desktopLimit bounds the measurement on a desktop.
const desktopLimit = 10 * time.Minute

// measureDesktop runs the measurement of package rest, which `make rest` runs too, for a shorter time.
func measureDesktop(ctx context.Context, o *options, now *figures) (err error) {
	dir, err := os.MkdirTemp(o.temporary, "rollcall-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	results := filepath.Join(dir, "results.json")
	progress("the tray on a desktop")
	c := command{args: []string{"go", "test", "-count=1", "-timeout", "20m", "-run", "^TestRest$", "./internal/rest"}, limit: desktopLimit,
		env: append(os.Environ(), "ROLLCALL_REST=30s", "ROLLCALL_REST_RESULTS="+results)}
	_, failed := c.run(ctx)
	var rows []figure
	b, err := os.ReadFile(results)
	if err == nil {
		err = json.Unmarshal(b, &rows)
	}
	if err != nil || len(rows) == 0 {
		missing := "its test made no results"
		if failed != nil {
			missing = failed.Error()
		}
		now.add(figure{Row: "rest", Name: "tray at rest", Goal: "≤ 40 MB, ≤ 0.1 % of a core", Missing: missing})
		return nil
	}
	for _, row := range rows {
		progress("        %s: %s", row.Name, row.Text)
		now.add(row)
	}
	if failed != nil {
		return fmt.Errorf("the desktop: %w", failed)
	}
	return nil
}
