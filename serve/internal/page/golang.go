package page

import "github.com/alecthomas/chroma/v2"

// goLexer returns the rules of Go, for which chroma has no file of rules. They follow chroma's own.
func goLexer() chroma.Lexer {
	return chroma.MustNewLexer(&chroma.Config{Name: "Go", Aliases: []string{"go", "golang"}, Filenames: []string{"*.go"}}, goRules)
}

func goRules() chroma.Rules {
	types := chroma.Words(``, `\b`, "any", "bool", "byte", "comparable", "complex64", "complex128", "error", "float32", "float64",
		"int", "int8", "int16", "int32", "int64", "rune", "string", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr")
	builtins := chroma.Words(``, `\b(?=\()`, "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make",
		"max", "min", "new", "panic", "print", "println", "real", "recover")
	keywords := chroma.Words(``, `\b`, "break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for",
		"func", "go", "goto", "if", "import", "interface", "map", "package", "range", "return", "select", "struct", "switch", "type", "var")
	return chroma.Rules{"root": {
		{Pattern: `\s+`, Type: chroma.TextWhitespace},
		{Pattern: `//(go:|line |export |extern )[^\n]*`, Type: chroma.CommentPreproc},
		{Pattern: `//[^\n]*`, Type: chroma.CommentSingle},
		{Pattern: `/\*[\s\S]*?\*/`, Type: chroma.CommentMultiline},
		{Pattern: keywords, Type: chroma.Keyword},
		{Pattern: `(true|false|iota|nil)\b`, Type: chroma.KeywordConstant},
		{Pattern: builtins, Type: chroma.NameBuiltin},
		{Pattern: types, Type: chroma.KeywordType},
		{Pattern: "`[^`]*`", Type: chroma.LiteralString},
		{Pattern: `"(\\.|[^"\\\n])*"`, Type: chroma.LiteralString},
		{Pattern: `'(\\.[^'\n]*|[^\\'\n])'`, Type: chroma.LiteralStringChar},
		{Pattern: `0[xX][0-9a-fA-F_.]+([pP][-+]?\d+)?i?|0[bB][01_]+|0[oO]?[0-7_]+`, Type: chroma.LiteralNumber},
		{Pattern: `(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)([eE][-+]?\d+)?i?`, Type: chroma.LiteralNumber},
		{Pattern: `[^\W\d]\w*(?=\()`, Type: chroma.NameFunction},
		{Pattern: `[^\W\d]\w*`, Type: chroma.NameOther},
		{Pattern: `[-+*/%&|^<>=!:~.,;(){}\[\]]`, Type: chroma.Punctuation},
	}}
}
