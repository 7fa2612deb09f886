// Package must ends tests at errors that they do not expect.
package must

import "testing"

// Do ends the test if one of the errors is not nil. For example, it checks a call that only
// prepares the test:
//
//	must.Do(t, os.Mkdir(dir, 0o755))
func Do(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Second returns the error of a call that has another result. For example:
//
//	must.Do(t, must.Second(f.Seek(0, io.SeekStart)))
func Second[T any](_ T, err error) error { return err }
