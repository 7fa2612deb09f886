package match

import "bytes"

// A Context says how many lines a Searcher finds around each line that matches.
type Context struct {
	Before, After int
}

// A contextSearch finds the lines around matching lines. Whole buffers are searched for matches. A
// buffer begins with the lines of the one before that may come before a match.
type contextSearch struct {
	Context
	found func(l *Line) error
	line  Line

	lines   []byte // complete lines of the current buffer
	done    int    // lines[:done] were found, or skipped
	number  int64  // of the line at lines[done:]
	pending int    // lines after the last match that are yet to be found
	apart   bool   // the next line that is found begins a group: there are lines between it and the last match
}

// newContext returns the context search of a text, or nil if there is none.
func (t *search) newContext() *contextSearch {
	if t.around == nil || t.line.Binary {
		return nil
	}
	return &contextSearch{Context: *t.around, found: t.found, apart: true}
}

// begin begins with the complete lines of a buffer. lines[:old] were in the last buffer, too. The
// first line after them has the given number.
func (c *contextSearch) begin(lines []byte, old int, number int64) {
	c.lines, c.done, c.number = lines, 0, number-int64(bytes.Count(lines[:old], newline))
}

// match finds the line lines[start:end] of that number, and the lines around it that lie before it.
func (c *contextSearch) match(start, end int, number int64) error {
	if err := c.after(start); err != nil {
		return err
	}
	if err := c.before(start, number); err != nil {
		return err
	}
	if err := c.emit(c.lines[start:end], number, false); err != nil {
		return err
	}
	c.done, c.number, c.pending = min(end+1, len(c.lines)), number+1, c.After
	return nil
}

func (c *contextSearch) emit(text []byte, number int64, context bool) error {
	c.line = Line{Text: text, Number: number, Context: context, First: c.apart}
	c.apart = false
	return c.found(&c.line)
}

// after finds the lines after the last match, up to the line at end.
func (c *contextSearch) after(end int) error {
	for ; c.pending > 0 && c.done < end; c.pending-- {
		stop := lineEnd(c.lines, c.done)
		if err := c.emit(c.lines[c.done:stop], c.number, true); err != nil {
			return err
		}
		c.done = min(stop+1, len(c.lines))
		c.number++
	}
	return nil
}

// before finds the lines before the match at start, which has that number.
func (c *contextSearch) before(start int, number int64) error {
	from, n := c.back(start, c.Before)
	c.apart = c.apart || from > c.done
	number -= int64(n)
	for from < start {
		stop := lineEnd(c.lines, from)
		if err := c.emit(c.lines[from:stop], number, true); err != nil {
			return err
		}
		from = stop + 1
		number++
	}
	return nil
}

// back goes back from the line at a place by as many lines as n, or to done. It returns where that
// is, and by how many lines.
func (c *contextSearch) back(at, n int) (start, lines int) {
	for ; lines < n && at > c.done; lines++ {
		at = bytes.LastIndexByte(c.lines[:at-1], '\n') + 1
	}
	return max(at, c.done), lines
}

// end ends with the lines of a buffer. It returns how many bytes at their end the next buffer must
// begin with.
func (c *contextSearch) end() (kept int, err error) {
	err = c.after(len(c.lines))
	from, _ := c.back(len(c.lines), c.Before)
	if !bytes.HasSuffix(c.lines, newline) { // a part of a line that is too long
		from = len(c.lines)
	}
	c.apart = c.apart || from > c.done
	return len(c.lines) - from, err
}
