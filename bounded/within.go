package bounded

import (
	"context"
	"fmt"
	"time"
)

// The limits for calls of the file system.
const (
	ReadLimit  = 3 * time.Second
	WriteLimit = 10 * time.Second
)

// hanging holds the calls of Within, In and Answers that were left behind.
var hanging behind

func goes(job func()) { go job() }

// Within makes a call and returns its answer. It leaves behind a call that has not
// returned after limit or when ctx is done, and then returns ErrNoAnswer or the error
// of ctx.
func Within[T any](ctx context.Context, limit time.Duration, call func() (T, error)) (T, error) {
	return await(ctx, request{behind: new(behind), limit: limit, start: goes}, call)
}

// In calls f, which uses a folder, and returns its result. If f has not returned after
// limit, it is left behind: the result is ErrNoAnswer, with folder in the text, and
// further calls for this folder fail at once until f returns. left is then done, and f
// must not change anything any more. f must not write to what the caller can see.
func In[T any](folder string, limit time.Duration, f func(left context.Context) (T, error)) (T, error) {
	if since, hangs := hanging.hangs(folder); hangs {
		var none T
		return none, noAnswer(folder, time.Since(since))
	}
	left, leave := context.WithCancel(context.Background())
	defer leave()
	value, err := await(context.Background(), request{&hanging, folder, limit, goes, leave}, func() (T, error) { return f(left) })
	if err == ErrNoAnswer { //nolint:errorlint // what f itself returns is passed on
		return value, noAnswer(folder, limit)
	}
	return value, err
}

func noAnswer(folder string, d time.Duration) error {
	return fmt.Errorf("%s: %w (for %d s so far). Is a network folder or an external disk disconnected?", folder, ErrNoAnswer, int(d.Seconds()))
}

const (
	// answerLimit is the time that a file system has for its first answer.
	answerLimit = 2 * time.Second
	// answerRest is the time that each further file system has while one does not
	// answer.
	answerRest = 100 * time.Millisecond
)

// Answers reports whether the file system answers about a path, which need not exist. It must
// be called before the use of a folder that another program named, and before the use of
// several folders if one of them may hang.
func Answers(path string) bool {
	_, err := Look(path, func() (struct{}, error) {
		reach(path)
		return struct{}{}, nil
	})
	return err == nil
}

// Look makes a call that only reads what is at a path, and returns its result. A call that takes longer than Answers would wait
// is left behind: the error is ErrNoAnswer, and so it is for this path, all below it and its file system until that call returns.
func Look[T any](path string, call func() (T, error)) (T, error) {
	if _, hangs := hanging.hangs(path); hangs {
		var none T
		return none, ErrNoAnswer
	}
	limit := answerLimit
	if hanging.any() {
		limit = answerRest
	}
	value, err := await(context.Background(), request{behind: &hanging, key: path, limit: limit, start: goes}, call)
	if err == ErrNoAnswer { //nolint:errorlint // what call itself returns is passed on
		hanging.spread(path)
	} else {
		hanging.hasAnswered(path)
	}
	return value, err
}
