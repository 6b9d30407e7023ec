package ui

import (
	"fmt"
	"slices"

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
	optionCells  = 48
)

// questionForm has the buttons and fields for the questions of a request. A single question that takes one
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

// set makes the fields for a request, which may be nil.
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
		f.rows.Add(widgets.Hint("The request has more questions or options than fit here: answer it " + short(present.Where(&f.view.item.entry.Session.Session)) + "."))
		return
	}
	f.quick = len(r.Questions) == 1 && !r.Questions[0].Several
	for i := range r.Questions {
		f.add(&r.Questions[i], i)
	}
	f.rows.Refresh()
}

// add makes the field for question i.
func (f *questionForm) add(q *adapters.Question, i int) {
	host, field := f.view.ui.host, &questionField{question: q}
	f.fields = append(f.fields, field)
	if !f.quick {
		f.rows.Add(widgets.Pad(4, 0, 10, 6, widgets.NewTitle(fmt.Sprintf("Answer to question %d", i+1))))
	}
	options := widgets.Flow()
	for n, o := range q.Options {
		name := fmt.Sprintf("%d  %s", n+1, present.Cut(short(o.Label), optionCells))
		if f.quick {
			b := host.NewButton(name, nil, func() { f.choose(n + 1) })
			b.Early = f.view.delayEarly
			field.buttons = append(field.buttons, b)
			options.Add(b)
			continue
		}
		box := host.NewCheckBox(name, nil)
		box.OnChanged = func(on bool) { f.checked(field, box, on) }
		field.boxes = append(field.boxes, box)
		options.Add(box)
	}
	if len(q.Options) > 0 {
		f.rows.Add(widgets.Pad(0, 0, 6, 6, options))
	}
	if q.FreeText {
		field.text = host.NewEntry("An answer in your own words", func(string) { f.view.enable() })
		field.text.Password = q.Secret
		field.text.OnSubmitted = func(string) { f.submit() }
		f.rows.Add(widgets.Pad(0, 0, 6, 6, host.PassWheel(field.text)))
	}
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
	f.send.Hidden = len(f.fields) == 0 || f.quick && f.fields[0].text == nil || f.view.formBox.Hidden
	f.send.SetEnabled(ready && f.answers() != nil)
}

// choose answers the only question with its option n, from 1.
func (f *questionForm) choose(n int) {
	if !f.quick || n < 1 || n > len(f.fields[0].question.Options) {
		return
	}
	f.reply([][]string{{f.fields[0].question.Options[n-1].Label}})
}

func (f *questionForm) submit() {
	if answers := f.answers(); answers != nil {
		f.reply(answers)
	}
}

func (f *questionForm) reply(answers [][]string) {
	f.view.decide(adapters.Decision{Verdict: adapters.Reply, Answers: answers})
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
