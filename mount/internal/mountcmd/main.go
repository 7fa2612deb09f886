// Mountcmd mounts a volume for tests: the daemon is a process of its own.
//
//	mountcmd [-ro] [-debug] VOLUME DIR
package main

import (
	"flag"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"os/signal"
	"syscall"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/mount"
)

func main() {
	readOnly := flag.Bool("ro", false, "refuse changes")
	debug := flag.Bool("debug", false, "log each request")
	profile := flag.String("pprof", "", "address of the profiler")
	flag.Parse()
	if *profile != "" {
		go func() { log.Print(http.ListenAndServe(*profile, nil)) }()
	}
	vol, err := folio.Open(flag.Arg(0), &folio.Options{Create: true})
	if err != nil {
		log.Fatal(err)
	}
	server, err := mount.Mount(vol, flag.Arg(1), &mount.Options{ReadOnly: *readOnly, AllowOther: true, Debug: *debug, Daemon: true, Options: []string{"dev", "suid"}})
	if err != nil {
		log.Fatal(err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	_, _ = os.Stdout.WriteString("mounted\n")
	go func() {
		for range signals {
			if err := server.Unmount(); err != nil {
				log.Print(err)
			}
		}
	}()
	server.Wait()
	if err := vol.Close(); err != nil {
		log.Fatal(err)
	}
}
