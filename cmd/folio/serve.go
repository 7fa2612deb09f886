package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/interrupt"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/serve"
)

// A volumeServer serves the volumes of one command line.
type volumeServer struct {
	*command
	options         serve.Options
	listen          string
	files           serve.Files
	trashDays       int
	maxSize, upload value.ByteSize
	quiet           bool
}

const serveLong = `Serve volumes, or directories of them, to browsers and by WebDAV. Of several, each is below its own name.

Clients read only, and only programs of this computer reach the server, unless flags say otherwise. With
--write, clients can upload, make, move and remove files. Removed files can be taken back for some days.

--users names a file with a line NAME:HASH for each user, as htpasswd -B writes it; argon2id works, too. A
hash sha256:HEX is that of a token, which a program sends as Authorization: Bearer. --rights names a file
with lines USER RIGHT PATH, where RIGHT is none, upload, read or write; USER * is everybody who has logged
in, and - everybody else. Both, and the certificate, are read again when they change, and by SIGHUP.

The server answers to addresses, to localhost, to the name of this computer, and to names that --host adds.
A socket that systemd passes on takes the place of --listen. The page of docs/howto/serve.md has examples.`

func (c *command) serveCommand() *cobra.Command {
	s := &volumeServer{command: c}
	cmd := writingCommand("serve VOLUME[:PATH]...", "Serve volumes to browsers and by WebDAV", serveLong,
		`  folio serve photos.folio
  folio serve --write --users users.txt --listen :8080 photos.folio docs.folio:public
  folio serve --write --users users.txt --tls-cert site.crt --tls-key site.key --listen :443 site.folio`,
		between(1, -1, "VOLUME[:PATH]..."))
	cmd.ValidArgsFunction = completeLocation
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return s.run(cmd.Context(), args) }
	flags := cmd.Flags()
	flags.BoolVarP(&s.options.Write, "write", "w", false, "let clients change the volumes")
	flags.StringVarP(&s.listen, "listen", "l", "127.0.0.1:8080", "the `address` to listen at; :8080 is every address of this computer")
	flags.StringVar(&s.options.Base, "base", "", "the `path` that all URLs begin with")
	flags.StringArrayVar(&s.options.Hosts, "host", nil, "a `name` that the server answers to; several may be given")
	flags.Func("trusted-proxy", "the `address` or network of a proxy whose X-Forwarded-For is believed, or unix; several may be given", s.trustProxy)
	flags.StringVar(&s.files.Certificate, "tls-cert", "", "`file` with the certificate")
	flags.StringVar(&s.files.Key, "tls-key", "", "`file` with its key")
	flags.StringVar(&s.files.Users, "users", "", "`file` with the users")
	flags.StringVar(&s.files.Rights, "rights", "", "`file` with the rights of users")
	flags.BoolVar(&s.options.Index, "index", false, "show index.html in place of a directory that has one")
	flags.IntVar(&s.trashDays, "trash", 7, "how many `days` removed files are kept; 0 removes them at once")
	flags.Func("max-size", "let no volume grow beyond this `size` in bytes, such as 10G", s.maxSize.Set)
	flags.Func("max-upload", "take no file of more than this `size` in bytes", s.upload.Set)
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "do not log requests")
	return cmd
}

// run serves until a signal ends the command.
func (s *volumeServer) run(ctx context.Context, args []string) error {
	cert, err := s.prepare()
	if err != nil {
		return err
	}
	if s.options.Sources, err = s.sources(args); err != nil {
		return err
	}
	server, err := serve.New(&s.options) // which opens the volumes
	if err != nil {
		return err
	}
	l, err := s.listener()
	if err != nil {
		return errors.Join(failure.Hint(err, "--listen names another address, such as :8081"), server.Close())
	}
	defer l.Close()
	if s.options.Write && s.options.Users == nil && !serve.IsLoopback(l.Addr()) {
		err := failure.Hint(errOpenToAll, "name a file of users by --users, or listen at 127.0.0.1")
		return errors.Join(err, server.Close())
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // most of the memory are buffers of clients, not garbage
	}
	scheme := "http"
	if cert != nil {
		scheme = "https"
	}
	fmt.Fprintf(s.Stderr, "folio: serving %s://%s%s/\n", scheme, l.Addr(), strings.TrimSuffix("/"+strings.Trim(s.options.Base, "/"), "/"))
	if s.files != (serve.Files{}) {
		go server.Follow(ctx, &s.files, s.hangups(ctx))
	}
	err = server.Serve(ctx, l, cert)
	return errors.Join(err, server.Close())
}

var (
	errOpenToAll = errors.New("everybody who reaches this address could change the volume")
	errHalfTLS   = errors.New("--tls-cert and --tls-key belong together")
	errTrash     = errors.New("--trash is a number of days")
)

// prepare reads the files that flags name.
func (s *volumeServer) prepare() (cert *tls.Certificate, err error) {
	if s.trashDays < 0 {
		return nil, errTrash
	}
	s.options.Trash = time.Duration(s.trashDays) * 24 * time.Hour
	s.options.MaxBody = int64(s.upload)
	s.options.Notices = slog.New(slog.NewTextHandler(s.Stderr, nil))
	if !s.quiet {
		s.options.Logger = s.options.Notices
	}
	if (s.files.Certificate == "") != (s.files.Key == "") {
		return nil, errHalfTLS
	}
	settings, err := s.files.Read()
	s.options.Users, s.options.Rights = settings.Users, settings.Rights
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = failure.At(e.Path, err)
	}
	return settings.Certificate, err
}

func (s *volumeServer) trustProxy(text string) error {
	p, err := serve.ParseProxy(text)
	s.options.TrustedProxies = append(s.options.TrustedProxies, p)
	return err
}

// hangups returns the channel with a value for each SIGHUP, which then does not end the
// command. That of a terminal which is closed does.
func (s *volumeServer) hangups(ctx context.Context) <-chan struct{} {
	again := make(chan struct{}, 1)
	interactive := s.OnTerminal()
	interrupt.Hangup(ctx, func() bool {
		if interactive && !s.OnTerminal() {
			return false
		}
		select {
		case again <- struct{}{}:
		default: // they are about to be read
		}
		return true
	})
	return again
}

// listener returns the socket that systemd has passed on, or listens.
func (s *volumeServer) listener() (net.Listener, error) {
	l, err := serve.ActivationListener()
	if l != nil || err != nil {
		return l, err
	}
	return net.Listen("tcp", s.listen)
}

var errSameName = errors.New("two volumes have this name")

// sources returns the sources that the arguments name. Each is served below the name of its file.
func (s *volumeServer) sources(args []string) (list []serve.Source, err error) {
	names := make(map[string]bool)
	for _, arg := range args {
		loc := location.Parse(arg)
		source := s.source(loc)
		if names[source.Name] {
			return nil, failure.At(source.Name, errSameName)
		}
		names[source.Name] = true
		list = append(list, source)
	}
	return list, nil
}

func (s *volumeServer) source(loc location.Location) serve.Source {
	name := strings.TrimSuffix(filepath.Base(loc.Volume), ".folio")
	if loc.Path != "." {
		name = filepath.Base(loc.Path)
	}
	source := serve.Source{Name: name, Dir: loc.Path, ReadOnly: loc.Snapshot != "" || !s.options.Write}
	if !location.OnServer(loc.Volume) {
		source.File = loc.Volume
	}
	source.Open = func() (*folio.Volume, func() error, error) {
		v, err := loc.OpenWith(&folio.Options{ReadOnly: source.ReadOnly, MaxSize: int64(s.maxSize)})
		if err != nil {
			return nil, nil, err
		}
		if _, err := v.Stat(loc.Path); err != nil {
			return nil, nil, errors.Join(loc.Failure(loc.Path, err), v.Close())
		}
		return v.Volume, v.Close, nil
	}
	return source
}
