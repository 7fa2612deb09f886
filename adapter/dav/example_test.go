package dav_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
)

func Example() {
	dir, err := os.MkdirTemp("", "folio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	vol, err := folio.Open(filepath.Join(dir, "shared.folio"), &folio.Options{Create: true})
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()

	// For a program of its own: http.ListenAndServe("localhost:8080", dav.NewHandler(vol, nil))
	server := httptest.NewServer(dav.NewHandler(vol, nil))
	defer server.Close()

	// The request of a file manager for a file that is dropped on the network drive.
	request, err := http.NewRequest("PUT", server.URL+"/letter.txt", strings.NewReader("Dear all"))
	if err != nil {
		log.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status)
	text, err := vol.ReadFile("letter.txt")
	fmt.Println(string(text), err)
	// Output:
	// 201 Created
	// Dear all <nil>
}
