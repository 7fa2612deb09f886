package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foliofs/folio/cmd/folio/internal/terminal"
)

// wrongAddresses are of no volume, each in its way. All have a password.
var wrongAddresses = []string{
	"postgres://folio:secret@127.0.0.1:1/x",
	"postgres://folio:secret@127.0.0.1:1/x?volume=a:path",
	"postgres://folio:secret@127.0.0.1:1/x?volume=a:/dir/",
	"postgres://folio:secret@127.0.0.1:1/x?volume=a@monday",
	"postgres://folio:secret@127.0.0.1:1/x?volume=a@monday:path",
	"postgres://folio:secret@127.0.0.1:1/x?volume=A:path",
	"postgres://folio:secret@127.0.0.1:1/x?volume=a&volume=b",
	"postgres://folio:secret@127.0.0.1:1/x?volume=a;b",
	"postgres://folio:secret@127.0.0.1:1/x?bucket=s3://b?endpoint=http://localhost",
	"postgres://folio@127.0.0.1:1/x?bucket=s3%3A//user%3Asecret%40b/p",
	"postgres://folio@127.0.0.1:1/x?bucket=s3%3A//b/p%3Fendpoint=https%3A//user%3Asecret%40localhost:path",
	"postgres://folio@127.0.0.1:1/x?bucket=s3%3A//b/p%3Faccess_key=secret",
	"postgres://folio:#secret@127.0.0.1:1/x",
	"postgres://folio:/secret@127.0.0.1:1/x",
	"postgres://folio:1/secret@127.0.0.1:1/x",
	"postgres://folio:1?secret@127.0.0.1:1/x",
	"postgres://folio:%secret@127.0.0.1:1/x",
	"postgresql://folio:secret@127.0.0.1:1/x:path",
	"postgres://folio@127.0.0.1:1/x?password=secret",
	"postgres://folio@127.0.0.1:1/x?sslpassword=secret:path",
	"postgres://folio:secret@127.0.0.1:1/x?sslmode=often",
	"postgres://folio:secret@127.0.0.1:1",
}

// TestPasswords gives each command a wrong address in place of each of its operands and of each
// flag with a value. What the command says must not have the password.
func TestPasswords(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	if code := run(t.Context(), []string{"create", "v.folio"}, nil, new(bytes.Buffer), new(bytes.Buffer)); code != 0 {
		t.Fatal("create failed")
	}
	if err := os.WriteFile("file", []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("dir", 0o755); err != nil {
		t.Fatal(err)
	}
	c := &command{Streams: terminal.New(strings.NewReader(""), new(bytes.Buffer), new(bytes.Buffer))}
	eachCommand(c.root(), nil, func(cmd *cobra.Command, name []string) {
		flags := valueFlags(cmd)
		for _, address := range wrongAddresses {
			for _, rest := range [][]string{
				{address},
				{address, address},
				{address, "dir"},
				{"dir", address},
				{address, "v.folio"},
				{"v.folio", address},
				{address, "v.folio:x"},
				{"v.folio:x", address},
				{"file", address},
				{address, "file"},
				{"v.folio", address, address},
			} {
				saysNoPassword(t, slices.Concat(name, rest))
			}
			for _, flag := range flags {
				saysNoPassword(t, slices.Concat(name, []string{flag + "=" + address, address, "dir"}))
			}
		}
	})
}

// eachCommand calls fn with each command below another one, and its words.
func eachCommand(cmd *cobra.Command, words []string, fn func(cmd *cobra.Command, words []string)) {
	for _, sub := range cmd.Commands() {
		name := slices.Concat(words, []string{sub.Name()})
		if sub.HasSubCommands() {
			eachCommand(sub, name, fn)
			continue
		}
		fn(sub, name)
	}
}

// valueFlags returns the flags of a command that have a value.
func valueFlags(cmd *cobra.Command) (list []string) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() != "bool" {
			list = append(list, "--"+f.Name)
		}
	})
	return list
}

func saysNoPassword(t *testing.T, args []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var out bytes.Buffer
	run(ctx, args, strings.NewReader(""), &out, &out)
	if strings.Contains(out.String(), "secret") {
		t.Errorf("folio %q: %s", args, &out)
	}
}
