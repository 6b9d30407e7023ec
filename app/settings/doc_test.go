package settings

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"rollcall/internal/doctest"
)

// keysOf returns the keys of a struct of settings.
func keysOf(t reflect.Type, prefix string) (keys []string) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if name == "" || name == "-" {
			continue
		}
		key, field := prefix+name, f.Type
		switch field.Kind() {
		case reflect.Map:
			if field.Elem().Kind() != reflect.Struct {
				keys = append(keys, key+".NAME")
				continue
			}
			keys = append(keys, keysOf(field.Elem(), key+".NAME.")...)
			continue
		case reflect.Slice:
			if field.Elem().Kind() == reflect.Struct {
				keys = append(keys, keysOf(field.Elem(), key+".")...)
				continue
			}
		case reflect.Struct:
			if field != reflect.TypeFor[Duration]() {
				keys = append(keys, keysOf(field, key+".")...)
				continue
			}
		}
		keys = append(keys, key)
	}
	return keys
}

// TestDocumented: docs/settings.md has each key, with its default.
func TestDocumented(t *testing.T) {
	defaults := map[string]string{}
	var documented []string
	for _, row := range doctest.Rows(t, "settings.md", "Keys") {
		key := strings.Trim(row[0], "`")
		documented = append(documented, key)
		defaults[key] = strings.Trim(row[1], "`")
	}
	want := keysOf(reflect.TypeFor[Settings](), "")
	slices.Sort(want)
	slices.Sort(documented)
	if !slices.Equal(want, documented) {
		t.Errorf("docs/settings.md has\n%q, the settings have\n%q", documented, want)
	}
	for key, want := range map[string]any{"reply_after": DefaultReplyAfter, "together": DefaultTogether, "pause": DefaultPause, "on_wait_after": DefaultOnWaitAfter} {
		var d Duration
		_ = d.UnmarshalText([]byte(strings.Trim(defaults["notifications."+key], `"`)))
		if d.Or(-1) != want {
			t.Errorf("docs/settings.md has the default %s for %s, the program %v", defaults["notifications."+key], key, want)
		}
	}
}
