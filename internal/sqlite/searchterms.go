package sqlite

import (
	"slices"
	"strings"
	"unicode/utf8"

	"petstore/internal/petstore"
)

// prefixLengths are the lengths of prefixes, in letters, that pet_words has lists of.
var prefixLengths = []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24}

// indexText returns the terms of an animal in the index: its words, and the term of its category.
func indexText(name, breed string, category int64) string {
	return strings.Join(append(petstore.WordsOfPet(name, breed), categoryTerm(category)), " ")
}

// categoryTerm returns the term of a category. It consists of private-use characters, which no word has: one for each 15
// bits, so one for a small category. A negative category becomes odd, so that it is short too.
func categoryTerm(category int64) string {
	const first, bits = '\U000F0000', 15
	rest := uint64(category<<1 ^ category>>63)
	var term []rune
	for {
		term = append(term, first+rune(rest&(1<<bits-1)))
		if rest >>= bits; rest == 0 {
			return string(term)
		}
	}
}

// terms returns the query of FTS5 that finds the words and the category of a search, or "" if it has neither. If shorten is
// set, it shortens words to a length of which there is a list, and reports whether there were any.
func (p *searchPage) terms(shorten bool) (query string, shortened bool) {
	var terms []string
	for i, word := range p.words {
		if slices.ContainsFunc(p.words[i+1:], func(later string) bool { return strings.HasPrefix(later, word) }) {
			continue // the later word finds fewer
		}
		if short := shortWord(word); shorten && short != word {
			word, shortened = short, true
		}
		terms = append(terms, `"`+word+`" *`)
	}
	if p.query.OfCategory {
		terms = append(terms, `"`+categoryTerm(p.query.Category)+`"`)
	}
	return strings.Join(terms, " AND "), shortened
}

// shortWord returns the longest beginning of a word of which pet_words has a list.
func shortWord(word string) string {
	length := utf8.RuneCountInString(word)
	if slices.Contains(prefixLengths, length) {
		return word
	}
	letters := []rune(word)
	for _, n := range slices.Backward(prefixLengths) {
		if n < length {
			return string(letters[:n])
		}
	}
	return word
}
