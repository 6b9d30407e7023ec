package ui

import (
	"context"
	"errors"
	"fmt"
	"os"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/cleanup"
	"rollcall/app/cleanup/trash"
	"rollcall/app/launch"
	"rollcall/app/present"
)

// cleaner knows all leftovers, in the light of the sessions that are live now.
func (u *UI) cleaner(ctx context.Context) (*cleanup.Cleaner, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	if u.options.Table == nil {
		return nil, errors.New("there is no process table, so nothing can be called stale")
	}
	snap := u.core.Refresh(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sessions := cleanup.Sessions{Live: map[string]bool{}, Unknown: failedAdapters(snap)}
	for i := range snap.Sessions {
		if snap.Sessions[i].Live() {
			sessions.Live[snap.Sessions[i].ID] = true
		}
	}
	sources := []cleanup.Source{&cleanup.Agentctl{Home: home, Table: u.options.Table, Sessions: sessions}}
	if l := u.options.Launches; l != nil {
		sources = append(sources, launch.Leftovers{Launches: l})
	}
	return &cleanup.Cleaner{Home: home, Trash: trash.New(home, os.Getenv), Sources: sources}, nil
}

// failedAdapters are those whose sessions are not all known.
func failedAdapters(snap *app.Snapshot) []adapters.Name {
	var out []adapters.Name
	for _, h := range snap.Adapters {
		if h.State != app.OK && h.State != app.Absent {
			out = append(out, h.Name)
		}
	}
	return out
}

// leftovers is the sheet that shows what may be removed.
type leftovers struct {
	*sheet
	items  []cleanup.Item
	keep   []bool
	list   *keyList
	remove *button
}

// showCleanup shows the leftovers, and removes those that stay ticked.
func (u *UI) showCleanup() {
	l := &leftovers{sheet: u.newSheet("Clean up", 680)}
	l.loading("Looking for what is left over…")
	go func() {
		c, err := u.cleaner(l.ctx)
		var items []cleanup.Item
		var problems error
		if err == nil {
			items, problems = c.Scan(l.ctx)
		}
		u.post(func() {
			switch {
			case l.ctx.Err() != nil:
			case err != nil:
				l.failed(short(err.Error()))
			default:
				l.offer(items, problems)
			}
		})
	}()
}

func (l *leftovers) offer(items []cleanup.Item, problems error) {
	var body []fyne.CanvasObject
	for i, p := range adapters.Problems(problems) {
		if i == maxProblems {
			break
		}
		body = append(body, sentence("waiting", colorWaiting, "Left alone: "+present.Cut(short(p.Error()), 400)))
	}
	if len(items) == 0 {
		body = append(body, sentence("done", colorGood, "Nothing is left over, neither of launches nor of agentctl."))
		done := l.button("Close", l.close)
		l.show(body, done)
		l.focus(done)
		return
	}
	l.items, l.keep = items, make([]bool, len(items))
	back := l.button("Cancel", l.close)
	l.remove = l.button("", l.carryOut)
	l.remove.Importance = widget.DangerImportance
	l.list = l.newList()
	body = append(body, paragraph("These files are of sessions and launches that are no more. They go to the trash, where there is one.", widget.LowImportance),
		container.New(&high{min(float32(len(items))*leftoverHeight, 360)}, l.list))
	l.show(body, back, l.remove)
	l.count()
	l.focus(back)
}

// leftoverHeight is that of a row, with the line below it.
const leftoverHeight = 52

// leftoverRow shows one file.
type leftoverRow struct {
	check     *checkBox
	path, why *line
	size      *line
}

func (l *leftovers) newList() *keyList {
	rows := map[fyne.CanvasObject]*leftoverRow{}
	list := &keyList{ui: l.ui}
	list.Length = func() int { return len(l.items) }
	list.CreateItem = func() fyne.CanvasObject {
		r := &leftoverRow{check: newCheck(l.ui, "", nil),
			path: newPathLine("/", theme.SizeNameText, fyne.TextStyle{}),
			why:  newLine("w", colorMuted, theme.SizeNameCaptionText, fyne.TextStyle{}),
			size: newLine("1000 MiB", colorMuted, theme.SizeNameCaptionText, fyne.TextStyle{}).whole()}
		o := border(nil, container.NewCenter(r.check), container.New(layout.NewCustomPaddedLayout(0, 0, 6, 12), r.size),
			container.New(layout.NewCustomPaddedLayout(6, 6, 4, 0), container.New(layout.NewCustomPaddedVBoxLayout(2), r.path, r.why)))
		rows[o] = r
		return o
	}
	list.UpdateItem = func(i widget.ListItemID, o fyne.CanvasObject) {
		r, it := rows[o], &l.items[i]
		r.check.OnChanged = nil
		r.check.SetChecked(!l.keep[i])
		r.check.OnChanged = func(on bool) { l.keep[i] = !on; l.count() }
		r.path.set(short(it.Path), theme.ColorNameForeground)
		r.why.set(short(it.Kind)+": "+short(it.Why), colorMuted)
		r.size.set(humanize.IBytes(uint64(max(it.Size, 0))), colorMuted)
	}
	list.OnSelected = func(i widget.ListItemID) {
		list.UnselectAll()
		l.keep[i] = !l.keep[i]
		list.RefreshItem(i)
		l.count()
	}
	list.ExtendBaseWidget(list)
	return list
}

// count says on the button what it would remove.
func (l *leftovers) count() {
	n, size := 0, int64(0)
	for i := range l.items {
		if !l.keep[i] {
			n, size = n+1, size+l.items[i].Size
		}
	}
	l.remove.SetText(fmt.Sprintf("Remove %s, %s", count(n, "file", "files"), humanize.IBytes(uint64(max(size, 0)))))
	setEnabled(l.remove, n > 0)
	l.bottom.Refresh()
}

// carryOut removes the ticked files. Somebody thought about it meanwhile: the
// sessions are asked anew.
func (l *leftovers) carryOut() {
	var items []cleanup.Item
	for i := range l.items {
		if !l.keep[i] {
			items = append(items, l.items[i])
		}
	}
	u := l.ui
	l.waiting("Removing…", "Close") // what was begun is done
	go func() {
		c, err := u.cleaner(u.ctx)
		var results []cleanup.Result
		if err == nil {
			results = c.Remove(u.ctx, items)
		}
		u.post(func() {
			switch {
			case err != nil && !l.open():
				u.tell("Nothing was removed: " + short(err.Error()))
			case err != nil:
				l.failed("Nothing was removed: " + short(err.Error()))
			case !l.open():
				u.warnOf(results)
			default:
				l.tell(results)
			}
		})
	}()
}

// warnOf says above the list what was not removed, once the sheet is closed.
func (u *UI) warnOf(results []cleanup.Result) {
	for _, r := range results {
		if r.Err != nil {
			u.tell("Not everything was removed: " + short(r.Path) + ": " + present.Cut(short(r.Err.Error()), 400))
			return
		}
	}
}

// tell says what became of the files.
func (l *leftovers) tell(results []cleanup.Result) {
	body := make([]fyne.CanvasObject, 0, len(results))
	removed := 0
	for _, r := range results {
		switch {
		case r.Err != nil:
			body = append(body, sentence("failed", colorBad, short(r.Path)+"\nnot removed: "+present.Cut(short(r.Err.Error()), 400)))
			continue
		case r.Where != "":
			body = append(body, sentence("done", colorGood, short(r.Path)+"\nnow "+short(r.Where)))
		default:
			body = append(body, sentence("done", colorGood, short(r.Path)+"\ndeleted: there is no trash here"))
		}
		removed++
	}
	const most = 100
	if more := len(body) - most; more > 0 {
		body = append(body[:most], paragraph(fmt.Sprintf("and %s more", count(more, "file", "files")), widget.LowImportance))
	}
	headline := paragraph(fmt.Sprintf("%d of %s removed.", removed, count(len(results), "file", "files")), widget.MediumImportance)
	done := l.button("Close", l.close)
	l.show(append([]fyne.CanvasObject{headline}, body...), done)
	l.focus(done)
}

// high gives its content that height.
type high struct{ height float32 }

func (h *high) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Resize(size)
		o.Move(fyne.NewPos(0, 0))
	}
}

func (h *high) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(200, h.height) }
