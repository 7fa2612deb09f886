package ddl

import "fmt"

// A cursor reads the tokens of a statement one after the other, with one token of lookahead.
type cursor struct {
	sql string
	tok token // next token, not consumed yet
	end int   // end of the token consumed last
}

// next consumes the lookahead token and returns it.
func (c *cursor) next() token {
	t := c.tok
	c.end = t.end
	c.read(t.end, t.kind)
	return t
}

// read makes the token at an offset the lookahead token. The one before it is of the given kind.
func (c *cursor) read(i int, before tokenKind) {
	c.tok = scan(c.sql, i)
	switch c.tok.kind {
	case kwFilter, kwOver, kwWindow:
		c.contextual(before)
	}
}

// contextual makes a name of a word that is a keyword only between certain tokens (Q1): ) FILTER (,
// ) OVER (, ) OVER name, WINDOW name AS. It looks at the two tokens behind the word at most, so
// that time stays linear.
func (c *cursor) contextual(before tokenKind) {
	after := scan(c.sql, c.tok.end)
	keyword := false
	switch c.tok.kind {
	case kwFilter:
		keyword = before == tokRP && after.kind == tokLP
	case kwOver:
		keyword = before == tokRP && (after.kind == tokLP || after.kind.isContextName())
	case kwWindow:
		keyword = after.kind.isContextName() && scan(c.sql, after.end).kind == kwAs
	}
	if !keyword {
		c.tok.kind = tokID
	}
}

// second returns the kind of the token after the lookahead token.
func (c *cursor) second() tokenKind { return scan(c.sql, c.tok.end).kind }

// text returns a token as written.
func (c *cursor) text(t token) string { return c.sql[t.start:t.end] }

// since returns the text from an offset to the end of the token consumed last.
func (c *cursor) since(start int) string { return c.sql[start:max(start, c.end)] }

// upTo returns the text from an offset to the next token. SQLite stores some statements with the
// space and comments before the semicolon or the end.
func (c *cursor) upTo(start int) string { return c.sql[start:c.tok.start] }

// accept consumes a token of the kind, if that is next.
func (c *cursor) accept(kind tokenKind) bool {
	if c.tok.kind != kind {
		return false
	}
	c.next()
	return true
}

// expect consumes a token of the kind, or fails and names the token that it wanted.
func (c *cursor) expect(kind tokenKind, want string) error {
	if c.accept(kind) {
		return nil
	}
	return c.errorf("%s, want %s", c.found(), want)
}

// isWord reports whether the next token is the word, given in lower case, without quotes. It serves
// for words that are no keywords.
func (c *cursor) isWord(word string) bool {
	return c.tok.kind.isID() && EqualFold(c.text(c.tok), word)
}

// errorf makes the error for the next token.
func (c *cursor) errorf(format string, args ...any) error {
	return &SyntaxError{c.tok.start, fmt.Sprintf(format, args...)}
}

func (c *cursor) unexpected() error { return c.errorf("%s", c.found()) }

// found describes the next token.
func (c *cursor) found() string {
	switch c.tok.kind {
	case tokEnd:
		return "unexpected end"
	case tokIllegal:
		return fmt.Sprintf("unrecognized token %q", clip(c.text(c.tok)))
	}
	return fmt.Sprintf("unexpected %q", clip(c.text(c.tok)))
}

// name consumes a name and returns it without quotes.
func (c *cursor) name(what string) (string, error) {
	if !c.tok.kind.isName() {
		return "", c.errorf("%s, want %s", c.found(), what)
	}
	return Unquote(c.text(c.next())), nil
}

// collation consumes COLLATE and the name of a collation, which must not be a join keyword.
func (c *cursor) collation() (string, error) {
	c.next()
	if !c.tok.kind.isID() && c.tok.kind != tokString {
		return "", c.errorf("%s, want a collation", c.found())
	}
	return Unquote(c.text(c.next())), nil
}

// group consumes everything from a parenthesis to that which closes it.
func (c *cursor) group() error {
	open := c.tok.start
	for depth := 0; ; {
		switch c.tok.kind {
		case tokLP:
			depth++
		case tokRP:
			depth--
		case tokIllegal, tokSemi:
			return c.unexpected()
		case tokEnd:
			return &SyntaxError{open, "parenthesis not closed"}
		}
		c.next()
		if depth == 0 {
			return nil
		}
	}
}

// ended checks that the statement ends here.
func (c *cursor) ended() error {
	if c.tok.kind != tokEnd && c.tok.kind != tokSemi {
		return c.unexpected()
	}
	return nil
}

// only checks that nothing but space, comments and semicolons is left.
func (c *cursor) only() error {
	for c.accept(tokSemi) {
	}
	if c.tok.kind != tokEnd {
		return c.errorf("text after the end of the statement")
	}
	return nil
}

// isReserved reports whether the next token is a word that is never a name, given in lower case,
// and has no kind of its own.
func (c *cursor) isReserved(word string) bool {
	return c.tok.kind == kwReserved && EqualFold(c.text(c.tok), word)
}

// rest consumes everything up to the end of the statement.
func (c *cursor) rest() error {
	for c.tok.kind != tokEnd && c.tok.kind != tokSemi {
		if c.tok.kind == tokLP {
			if err := c.group(); err != nil {
				return err
			}
			continue
		}
		if c.tok.kind == tokIllegal || c.tok.kind == tokRP {
			return c.unexpected()
		}
		c.next()
	}
	return nil
}
