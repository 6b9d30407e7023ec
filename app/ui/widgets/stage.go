package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// NewMessage fills an otherwise empty page with a message, its reason, and what the user can do. sign is an image
// above it, or nil.
func NewMessage(sign fyne.CanvasObject, title, text string, actions ...fyne.CanvasObject) fyne.CanvasObject {
	box := Rows(4)
	if sign != nil {
		box.Add(container.NewCenter(sign))
	}
	headline, body := Headline(title), Hint(text)
	headline.Alignment, body.Alignment = fyne.TextAlignCenter, fyne.TextAlignCenter
	box.Add(headline)
	box.Add(body)
	if len(actions) > 0 {
		box.Add(Pad(8, 0, 0, 0, container.NewCenter(container.NewHBox(actions...))))
	}
	return container.NewVScroll(container.New(column(420, true), box))
}

// Stage shows one content at a time, such as a list or the reason why it is empty.
type Stage struct {
	Content *fyne.Container
	name    string
	busy    *widget.Activity
	isBusy  bool // the content contains busy
}

// NewStage returns an empty stage.
func NewStage() *Stage { return &Stage{Content: container.NewStack(), busy: widget.NewActivity()} }

// Show shows the result of content, unless the stage already shows a content with this name. It reports whether the content was replaced.
func (s *Stage) Show(name string, content func() fyne.CanvasObject) bool {
	if s.name == name && len(s.Content.Objects) > 0 {
		return false
	}
	s.name, s.isBusy = name, false
	s.Content.Objects = []fyne.CanvasObject{content()}
	if !s.isBusy {
		s.busy.Stop()
	}
	s.Content.Refresh()
	return true
}

// IsBusy reports whether Busy's message is shown.
func (s *Stage) IsBusy() bool { return s.isBusy }

// Busy returns a message with an activity indicator, as content for the stage.
func (s *Stage) Busy(title, text string) fyne.CanvasObject {
	s.isBusy = true
	s.busy.Start()
	return NewMessage(s.busy, title, text)
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
}

// NewBanner returns a hidden banner.
func NewBanner(icon string, actions ...fyne.CanvasObject) *Banner {
	b := &Banner{text: Paragraph("", widget.MediumImportance)}
	var right fyne.CanvasObject
	if len(actions) > 0 {
		right = TopOf(3, 3, 0, 4, actions...)
	}
	b.Content = NewPanel(0, 0, 0, 0, Border(nil, TopOf(9, 0, 10, 0, NewImage(NewIcon(icon, ColorWaiting), 16)), right,
		Pad(2, 2, -2, 4, b.text)))
	b.Content.Hide()
	return b
}

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
	c.Content = NewPanel(6, 4, 10, 8, Border(nil, TopOf(3, 0, 0, 4, c.image), container.NewVBox(Columns(6, actions...)), c.Body))
	return c
}

// Set shows another icon and text.
func (c *Card) Set(icon *Icon, text string) {
	SetImage(c.image, icon)
	c.Text.SetText(text)
}
