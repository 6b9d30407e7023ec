package places

import (
	"errors"
	"slices"
	"testing"

	"rollcall/bounded"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
)

// A folder's file system stops to answer right before its watch begins: Sync returns, the watcher is replaced, and every owner has
// its folders watched again by the new one.
func TestWatchIsReplacedWhileOneHangs(t *testing.T) {
	mount := testfs.Mount(t, t.TempDir())
	near := t.TempDir()
	var replaced []error
	f := must.Get(NewFolders[string](func(now *Watcher, err error) {
		if now == nil {
			t.Error("there is no new watcher")
		}
		replaced = append(replaced, err)
	}))(t)
	defer f.Close()
	const a, b = "a", "b"
	if again, limits := f.Sync(a, foldersFor([]string{near}, nil)); len(again) != 1 || limits != nil {
		t.Fatal(again, limits)
	}
	wanted := foldersFor([]string{mount.Path}, nil)
	mount.Hang(t)
	testfs.AwaitHang(t, mount.Path)
	if again, limits := f.Sync(b, wanted); len(again)+len(limits) != 0 || len(replaced) != 1 || !errors.Is(replaced[0], bounded.ErrNoAnswer) {
		t.Errorf("refreshed %v, limits %v, replaced %v", again, limits, replaced)
	}
	if again, _ := f.Sync(a, foldersFor([]string{near}, nil)); len(again) != 1 || len(f.watched) != 1 {
		t.Errorf("refreshed %v, watched %v", again, f.watched)
	}
	if told := f.told(t, near, "file"); !slices.Equal(told, []string{a}) {
		t.Errorf("%d owners are told of a change", len(told))
	}
	p := []string{mount.Path}
	if wanted, missing := Wanted(p, nil); len(wanted) != 0 || !slices.Equal(missing, p) {
		t.Errorf("watched %v, looked at again %v", wanted, missing)
	}
	mount.Answer(t)
	eventually.True(t, "the folder's watch", func() bool {
		f.Sync(b, foldersFor(p, nil))
		return len(f.watched) == 2
	})
	if len(replaced) != 1 {
		t.Errorf("replaced %v", replaced)
	}
}
