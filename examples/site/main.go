// Command site serves the files of a volume to browsers, until it is interrupted:
//
//	go run ./examples/site site.folio
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"

	"github.com/foliofs/folio"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: site VOLUME")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, os.Args[1], "localhost:8080"); err != nil {
		log.Fatal(err)
	}
}

// serve makes the volume if there is none, with one page.
func serve(ctx context.Context, name, address string) (err error) {
	vol, err := folio.Open(name, &folio.Options{Create: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, vol.Close()) }() // which leaves one file, without a log
	if _, err := vol.Stat("index.html"); err != nil {
		if err := vol.WriteFile("index.html", []byte("<h1>Hello</h1>"), 0o644); err != nil {
			return err
		}
	}
	server := &http.Server{Addr: address, Handler: http.FileServerFS(vol.FS())}
	end := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer end()
	fmt.Printf("http://%s/\n", address)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
