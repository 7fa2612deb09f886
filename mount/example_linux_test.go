package mount_test

import (
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/mount"
)

// A program mounts a volume until it gets a signal, or until another program unmounts it.
func ExampleMount() {
	vol, err := folio.Open("photos.folio", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()
	server, err := mount.Mount(vol, "/mnt/photos", &mount.Options{Name: "photos.folio"})
	if err != nil {
		log.Fatal(err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range stop {
			if err := server.Unmount(); err != nil {
				log.Print(err) // programs still use it
			}
		}
	}()
	server.Wait()
}
