package serve_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// A program serves a volume that it has open itself.
func Example() {
	vol, err := folio.OpenMemory(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()
	if err := vol.WriteFile("hello.txt", []byte("hello"), 0o644); err != nil {
		log.Fatal(err)
	}
	server, err := serve.New(&serve.Options{Sources: []serve.Source{{
		Name: "site",
		Open: func() (*folio.Volume, func() error, error) { return vol, func() error { return nil }, nil },
	}}})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	s := httptest.NewServer(server) // or server.Serve, which limits what clients may take
	defer s.Close()
	resp, err := http.Get(s.URL + "/hello.txt")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(resp.Status, string(text))
	// Output: 200 OK hello
}
