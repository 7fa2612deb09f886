package serve_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

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

// Users log in, and rights say what each of them may do where.
func ExampleParseRights() {
	users, err := serve.ParseUsers(strings.NewReader("ann:$2y$10$yn6jxeCQaQWW1fM0FXlv3O/8YHLmVQvCjVYcRPp6N4I8lCFKuM0aK\n"))
	if err != nil {
		log.Fatal(err)
	}
	rights, err := serve.ParseRights(strings.NewReader("- none /\nann write /photos\n"))
	if err != nil {
		log.Fatal(err)
	}
	server, err := serve.New(&serve.Options{Write: true, Users: users, Rights: rights, Sources: []serve.Source{memorySource("photos")}})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	s := httptest.NewServer(server)
	defer s.Close()
	resp, err := http.Get(s.URL + "/") // without a password
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 401 Unauthorized
}

// memorySource is a source with an empty volume in memory.
func memorySource(name string) serve.Source {
	return serve.Source{Name: name, Open: func() (*folio.Volume, func() error, error) {
		vol, err := folio.OpenMemory(nil)
		if err != nil {
			return nil, nil, err
		}
		return vol, vol.Close, vol.Mkdir("photos", 0o755)
	}}
}
