package web_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/web"
)

func Example() {
	dir, err := os.MkdirTemp("", "folio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	vol, err := folio.Open(filepath.Join(dir, "site.folio"), &folio.Options{Create: true})
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()
	if err := vol.WriteFile("index.html", []byte("<h1>Folio</h1>"), 0o644); err != nil {
		log.Fatal(err)
	}

	// For a program of its own: http.ListenAndServe("localhost:8080", web.FileServer(vol))
	server := httptest.NewServer(web.FileServer(vol))
	defer server.Close()

	first, err := http.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer first.Body.Close()
	again, err := http.NewRequest("GET", server.URL, nil)
	if err != nil {
		log.Fatal(err)
	}
	again.Header.Set("If-None-Match", first.Header.Get("ETag"))
	second, err := http.DefaultClient.Do(again)
	if err != nil {
		log.Fatal(err)
	}
	defer second.Body.Close()
	fmt.Println(first.Status)
	fmt.Println(second.Status)
	// Output:
	// 200 OK
	// 304 Not Modified
}
