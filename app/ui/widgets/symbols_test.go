package widgets

import (
	"bytes"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"image"
	"image/color"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"github.com/go-text/typesetting/font"

	"rollcall/internal/must"
)

// common are symbols that texts of agents have: arrows, keys, signs of mathematics, lines and blocks, shapes, ticks, stars, digits in circles, fractions, currencies
// and the spinners of command lines.
const common = "←↑→↓↔↕↖↗↘↙↚↛↜↝↞↟↠↡↢↣↤↥↦↧↨↩↪↫↬↭↮↰↱↲↳↴↵↶↷↺↻⇄⇅⇆⇇⇈⇉⇊⇐⇑⇒⇓⇔⇕⇠⇢⇦⇧⇨⇩⇪⟵⟶⟷⟸⟹⟺➔➘➙➚➛➜➝➞➟➠➡➢➣➤" +
	"⌘⌥⌃⌫⌦⏎⎋⌨⌂⌚⌛⏏⇥⇤␣" + "∀∂∃∅∆∇∈∉∋∏∑−±×÷√∛∞∠∧∨∩∪∫∴∵∼≅≈≠≡≤≥≪≫⊂⊃⊆⊇⊕⊗⊥⋅⋮⋯∘∝" + "─│┌┐└┘├┤┬┴┼━┃┏┓┗┛┣┫┳┻╋═║╔╗╚╝╠╣╦╩╬╭╮╯╰╱╲" +
	"▀▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▐░▒▓▖▗▘▙▚▛▜▝▞▟" + "■□▢▣▪▫▬▲△▴▵▶▷▸▹►▼▽▾▿◀◁◂◃◄◆◇◈◉○◌◍◎●◐◑◒◓◔◕◖◗◘◙◢◣◤◥◦◯" +
	"✓✔✕✖✗✘✚✛✜✢✣✤✥✦✧✩✪✫✬✭✮✯✰✱✲✳✴✵✶✷✸✹✺✻✼✽★☆☐☑☒☀☁☂☎☞☠☢☣☯☹☺♠♣♥♦♩♪♫♬♭♯⚑⚙⚠⚡❌❓❗❝❞❤❯❮" +
	"①②③④⑤⑥⑦⑧⑨⑩❶❷❸❹❺❻❼❽❾❿" + "½⅓⅔¼¾⅛⅜⅝⅞‰€£¥₩₽₹©®™°µ§¶†‡•…–—‘’“”«»‹›№℃℉Ω" + "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏⣾⣽⣻⢿⡿⣟⣯⣷"

// ours returns the characters beyond ASCII of all texts in the program.
func ours(t *testing.T) map[rune]string {
	found := map[rune]string{}
	must.Do(t, filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "build" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || !strings.Contains(path, "app/") {
			return nil
		}
		file, err := goparser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				for _, r := range text {
					if r > 0xa0 && (r < 0x2000 || r > 0x200f) && r != 0xfeff && (r < 0x2028 || r > 0x202e) && (r < 0x2060 || r > 0x206f) {
						found[r] = path
					}
				}
			}
			return true
		})
		return nil
	}))
	return found
}

// TestSymbols: Fyne finds each symbol in a font that is part of the program, as text, bold and as code, whatever fonts the system has.
func TestSymbols(t *testing.T) {
	wanted := ours(t)
	for _, r := range common {
		wanted[r] = "common"
	}
	if len(wanted) < 300 {
		t.Fatalf("only %d symbols", len(wanted))
	}
	for _, style := range []fyne.TextStyle{{}, {Bold: true}, {Italic: true}, {Monospace: true}} {
		var faces []*font.Face
		for _, r := range []fyne.Resource{Theme{}.Font(style), theme.DefaultTheme().Font(style), theme.DefaultEmojiFont(), theme.DefaultSymbolFont()} {
			face, err := font.ParseTTF(bytes.NewReader(r.Content()))
			must.Do(t, err)
			faces = append(faces, face)
		}
		for _, space := range " \u00a0\u2009\u202f" { // takes the font of the symbol before it
			if _, ok := faces[0].NominalGlyph(space); !ok {
				t.Errorf("%+v: the symbols have no %U, which is drawn as a box after one", style, space)
			}
		}
		for r, where := range wanted {
			has := false
			for _, f := range faces {
				_, ok := f.NominalGlyph(r)
				has = has || ok
			}
			if !has {
				t.Errorf("%+v: no font has %q, %U, of %s", style, r, r, where)
			}
		}
	}
}

// TestTextsLookAsInFynesFonts: the font for symbols changes no text without symbols. Fyne takes the height of a line from the first font that has a space.
func TestTextsLookAsInFynesFonts(t *testing.T) {
	test.NewTempApp(t)
	for _, style := range []fyne.TextStyle{{}, {Bold: true}, {Italic: true}, {Monospace: true}} {
		paint := func(th fyne.Theme) image.Image {
			text := canvas.NewText("Ågjpqy (Ç) |", color.Black)
			text.TextStyle, text.TextSize = style, 13
			return software.Render(text, th)
		}
		if with, without := paint(Theme{}), paint(fynesFonts{}); !reflect.DeepEqual(with, without) {
			t.Errorf("%+v: a text of %v looks other than in Fyne's font, of %v", style, with.Bounds().Size(), without.Bounds().Size())
		}
	}
}

// fynesFonts is the theme with the fonts of Fyne.
type fynesFonts struct{ Theme }

func (fynesFonts) Font(style fyne.TextStyle) fyne.Resource { return theme.DefaultTheme().Font(style) }
