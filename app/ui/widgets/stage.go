package widgets

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// Message fills an otherwise empty page: what is there instead of its content, and what the user can do.
type Message struct {
	Icon        string // above the title; empty: none
	Color       fyne.ThemeColorName
	Busy        bool // an activity indicator is in the place of the icon
	Title, Text string
	Actions     []fyne.CanvasObject
}

// Trouble returns the message about something that could not be done.
func Trouble(title, text string, actions ...fyne.CanvasObject) Message {
	return Message{Icon: "waiting", Color: ColorWaiting, Title: title, Text: text, Actions: actions}
}

// show returns the message; busy is the indicator. A flat one does not scroll by itself.
func (m *Message) show(busy *widget.Activity, isFlat bool) fyne.CanvasObject {
	box := Rows(4)
	switch {
	case m.Busy:
		box.Add(container.NewCenter(busy))
	case m.Icon != "":
		box.Add(container.NewCenter(NewImage(NewIcon(m.Icon, m.Color), 36)))
	}
	headline, body := Headline(m.Title), Hint(m.Text)
	headline.Alignment, body.Alignment = fyne.TextAlignCenter, fyne.TextAlignCenter
	box.Add(headline)
	box.Add(body)
	if len(m.Actions) > 0 {
		box.Add(Pad(8, 0, 0, 0, container.NewCenter(container.NewHBox(m.Actions...))))
	}
	if isFlat {
		return Pad(40, 12, 0, 0, container.New(column(420, false), box))
	}
	return container.NewVScroll(container.New(column(420, true), box))
}

// Stage shows one content at a time, such as a list or the reason why it is empty.
type Stage struct {
	Content *fyne.Container
	IsFlat  bool   // its messages are as high as they are, for a part of a page that scrolls
	message string // the message that is shown; empty: the content is none
	busy    *widget.Activity
}

// NewStage returns an empty stage.
func NewStage() *Stage { return &Stage{Content: container.NewStack(), busy: widget.NewActivity()} }

// Show shows a content, and reports whether the stage showed something else before.
func (s *Stage) Show(o fyne.CanvasObject) bool {
	if len(s.Content.Objects) > 0 && s.Content.Objects[0] == o {
		return false
	}
	s.busy.Stop()
	s.set("", o)
	return true
}

// Say shows a message, and reports whether the stage showed something else before.
func (s *Stage) Say(m Message) bool {
	text := fmt.Sprint(m.Title, "\n", m.Text, m.Busy)
	if s.message == text {
		return false
	}
	s.busy.Stop()
	if m.Busy {
		s.busy.Start()
	}
	s.set(text, m.show(s.busy, s.IsFlat))
	return true
}

func (s *Stage) set(message string, o fyne.CanvasObject) {
	s.message = message
	s.Content.Objects = []fyne.CanvasObject{o}
	s.Content.Refresh()
}

// Sentence returns a text that can be selected, behind an icon.
func Sentence(icon string, color fyne.ThemeColorName, text string) *fyne.Container {
	return Border(nil, TopOf(8, 0, 6, 0, NewImage(NewIcon(icon, color), 16)), nil, Pad(0, 0, -2, 0, NewSelectText(text)))
}

// Success returns a sentence about something that worked.
func Success(text string) *fyne.Container { return Sentence("done", ColorGood, text) }

// Warning returns a sentence that the user should read before going on.
func Warning(text string) *fyne.Container { return Sentence("waiting", ColorWaiting, text) }

// Failure returns a sentence about something that failed.
func Failure(text string) *fyne.Container { return Sentence("failed", ColorBad, text) }

// Banner is a warning above other content. It is hidden while it has no text.
type Banner struct {
	Content *fyne.Container
	text    *widget.Label
	mark    *canvas.Image
}

// NewBanner returns a hidden banner.
func NewBanner(icon string, actions ...fyne.CanvasObject) *Banner {
	b := &Banner{text: Paragraph("", widget.MediumImportance), mark: NewImage(NewIcon(icon, ColorWaiting), 16)}
	var right fyne.CanvasObject
	if len(actions) > 0 {
		right = TopOf(3, 3, 0, 4, actions...)
	}
	b.Content = NewPanel(0, 0, 0, 0, Border(nil, TopOf(9, 0, 10, 0, b.mark), right,
		Pad(2, 2, -2, 4, b.text)))
	b.Content.Hide()
	return b
}

// SetIcon shows another icon.
func (b *Banner) SetIcon(icon fyne.Resource) { SetImage(b.mark, icon) }

// Set shows text, or hides the banner if text is empty. It reports whether anything changed: then the container of
// the banner must be laid out again.
func (b *Banner) Set(text string) bool {
	if b.text.Text == text {
		return false
	}
	b.text.SetText(text)
	b.Content.Hidden = text == ""
	return true
}

// Card is a panel with an icon, a title, a text below it and, at the right, actions.
type Card struct {
	Content *fyne.Container
	Text    *SelectText
	Body    *fyne.Container // the title, the text, and what is added below them
	image   *canvas.Image
}

// NewCard returns a card whose title is shortened as a path.
func NewCard(icon *Icon, title, text string, actions ...fyne.CanvasObject) *Card {
	c := &Card{Text: NewSelectText(text), image: NewImage(icon, 16)}
	c.Body = Rows(-2, Pad(2, 0, 6, 6, NewTitle(title).Path()), c.Text)
	c.Content = Inset(NewPanel(6, 4, 10, 8, Border(nil, TopOf(3, 0, 0, 4, c.image), container.NewVBox(Columns(6, actions...)), c.Body)))
	return c
}

// Set shows another icon and text.
func (c *Card) Set(icon *Icon, text string) {
	SetImage(c.image, icon)
	c.Text.SetText(text)
}
