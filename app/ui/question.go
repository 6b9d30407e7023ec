package ui

import (
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app/control/answer"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// The limits for requests that have buttons. Requests beyond them, which no agent makes, are answered in the terminal.
const (
	maxQuestions = 8
	maxOptions   = 20
	optionCells  = 60
)

// questionForm has a card for each question of a request, with the buttons and fields that answer it. A single question that takes one
// answer is answered by the click on an option; all other questions by "Send answers". It is used on Fyne's
// goroutine only.
type questionForm struct {
	view    *requestView
	rows    *fyne.Container
	fields  []*questionField
	send    *widgets.Button
	quick   bool // a click on an option answers the request
	tooMany bool
}

// questionField has the answer to one question.
type questionField struct {
	question *adapters.Question
	boxes    []*widgets.CheckBox
	buttons  []*widgets.Button
	text     *widgets.Entry // nil: the question takes no text
}

func newQuestionForm(v *requestView) *questionForm {
	f := &questionForm{view: v, rows: widgets.Rows(4)}
	f.send = v.ui.host.NewPrimaryButton("Send answers", widget.HighImportance, f.submit)
	f.send.Early = v.delayEarly
	return f
}

// set makes the cards for a request, which may be nil.
func (f *questionForm) set(r *answer.Request) {
	f.fields = nil
	f.rows.Objects = nil
	f.quick = false
	f.tooMany = false
	if r == nil || len(r.Questions) == 0 {
		return
	}
	f.tooMany = len(r.Questions) > maxQuestions || slices.ContainsFunc(r.Questions, func(q adapters.Question) bool { return len(q.Options) > maxOptions })
	if f.tooMany {
		f.rows.Add(widgets.Hint("The request has more questions or options than fit here: answer it " + present.Short(present.Where(&f.view.item.Entry.Session.Owner)) + "."))
		return
	}
	f.quick = r.CanReply && len(r.Questions) == 1 && !r.Questions[0].Several
	for i := range r.Questions {
		f.add(&r.Questions[i], i, r.CanReply)
	}
	f.rows.Refresh()
}

// add makes the card of question i: its header, its text, and its options with what they mean.
func (f *questionForm) add(q *adapters.Question, i int, canReply bool) {
	field := &questionField{question: q}
	about := "Choose one" + present.When(q.Several, " or more")
	if len(q.Options) == 0 {
		about = "Answer in your own words"
	}
	if q.Header != "" {
		about = present.Cut(present.Short(q.Header), optionCells) + " · " + about
	}
	if len(f.view.item.Request.Questions) > 1 {
		about = fmt.Sprintf("%d  %s", i+1, about)
	}
	text := widgets.NewSelectText(present.Visible(q.Text))
	text.TextStyle.Bold = true
	card := widgets.Rows(0, widgets.Pad(2, 0, 6, 6, widgets.NewCaption(about)), text)
	for n := range q.Options {
		card.Add(f.option(field, n, canReply))
	}
	if canReply {
		f.fields = append(f.fields, field)
	}
	if canReply && q.FreeText {
		field.text = f.view.ui.host.NewEntry("An answer in your own words", func(string) { f.view.enable() })
		field.text.Password = q.Secret
		field.text.OnSubmitted = func(string) { f.submit() }
		card.Add(widgets.Pad(4, 4, 6, 6, f.view.ui.host.PassWheel(field.text)))
	}
	f.rows.Add(widgets.Pad(2, 2, 6, 6, widgets.NewPanel(4, 6, 2, 2, card)))
}

// option shows an option of a question: a button or a box that chooses it, and below it what it means. An option that can't be chosen here is a text.
func (f *questionForm) option(field *questionField, n int, canReply bool) fyne.CanvasObject {
	host, o := f.view.ui.host, field.question.Options[n]
	name := fmt.Sprintf("%d  %s", n+1, present.Cut(present.Short(o.Label), optionCells))
	var choice fyne.CanvasObject
	switch {
	case !canReply:
		choice = widgets.NewSelectText(name)
	case f.quick:
		b := host.NewButton(name, nil, func() { f.choose(n + 1) })
		b.Alignment = widget.ButtonAlignLeading
		b.Early = f.view.delayEarly
		field.buttons = append(field.buttons, b)
		choice = widgets.Pad(2, 2, 6, 6, b)
	default:
		box := host.NewCheckBox(name, nil)
		box.OnChanged = func(on bool) { f.checked(field, box, on) }
		field.boxes = append(field.boxes, box)
		choice = box
	}
	rows := widgets.Rows(-5, choice)
	whole := present.Visible(o.Label)
	for _, text := range []string{present.When(!strings.HasSuffix(name, whole), whole), present.Visible(o.Says)} {
		if text != "" {
			says := widgets.NewSelectText(text)
			says.Importance = widget.LowImportance
			rows.Add(widgets.Pad(0, 2, 20, 0, says))
		}
	}
	return rows
}

// checked unchecks the other options of a question that takes one answer.
func (f *questionForm) checked(field *questionField, box *widgets.CheckBox, on bool) {
	if on && !field.question.Several {
		for _, other := range field.boxes {
			if other != box && other.Checked {
				other.SetChecked(false)
			}
		}
	}
	f.view.enable()
}

// enable enables or disables the buttons and fields. ready reports that the request can be answered now.
func (f *questionForm) enable(ready bool) {
	for _, field := range f.fields {
		for _, b := range field.buttons {
			b.SetEnabled(ready)
		}
	}
	f.send.Hidden = len(f.fields) == 0 || f.quick && f.fields[0].text == nil
	f.send.SetEnabled(ready && f.answers() != nil)
}

// choose answers the only question with its option n, from 1.
func (f *questionForm) choose(n int) {
	if !f.quick || n < 1 || n > len(f.fields[0].question.Options) {
		return
	}
	f.view.replyWith([][]string{{f.fields[0].question.Options[n-1].Label}})
}

func (f *questionForm) submit() {
	if answers := f.answers(); answers != nil {
		f.view.replyWith(answers)
	}
}

// answers returns the answers to all questions; nil if an answer is missing. A text that the user typed replaces the
// chosen option of a question with one answer, and is added to the chosen options of a question with several.
func (f *questionForm) answers() (all [][]string) {
	for _, field := range f.fields {
		var given []string
		for n, box := range field.boxes {
			if box.Checked {
				given = append(given, field.question.Options[n].Label)
			}
		}
		if field.text != nil && field.text.Text != "" {
			if !field.question.Several {
				given = nil
			}
			given = append(given, field.text.Text)
		}
		if len(given) == 0 {
			return nil
		}
		all = append(all, given)
	}
	return all
}
