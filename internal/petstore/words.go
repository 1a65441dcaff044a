package petstore

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Bounds of a search.
const (
	MaxSearchLength = 100 // Unicode code points
	MaxSearchWords  = 8
)

// WordsVersion numbers the rules of Words. It is stored with an index of words, so that a program with other rules makes
// the index anew.
const WordsVersion = 1

// maxWordLength is how many code points of a word count. No word of a search is longer: a code point of the text becomes
// four letters at most.
const maxWordLength = 4 * MaxSearchLength

// Words splits a text into the words by which it is found, in their order. A word is a run of letters and digits after
// compatibility decomposition, without its marks and with its case folded: "Ébène" is ebene, "Straße" is strasse. Scripts
// that write no spaces give a word for each letter.
func Words(text string) []string {
	words, _ := splitWords(text)
	return words
}

// CheckSearch says what is wrong with a text to search for. It returns "" if the text has words to look for.
func CheckSearch(text string) (problem string) {
	if !utf8.ValidString(text) {
		return "must be valid UTF-8"
	}
	_, seen := splitWords(text)
	if length := utf8.RuneCountInString(text); length < 1 || length > MaxSearchLength || seen < 1 || seen > MaxSearchWords {
		return fmt.Sprintf("must have 1 to %d characters and 1 to %d words", MaxSearchLength, MaxSearchWords)
	}
	return ""
}

// WordsOfPet returns the words by which an animal is found: those of its name and of its breed.
func WordsOfPet(name, breed string) []string {
	if breed == "" {
		return Words(name)
	}
	return append(Words(name), Words(breed)...)
}

// FoundBy reports whether every word of a search is the beginning of one of the words.
func FoundBy(words, search []string) bool {
	for _, wanted := range search {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, wanted) }) {
			return false
		}
	}
	return true
}

// splitWords also counts the words as people see them: a run of letters that are words of their own counts as one.
func splitWords(text string) (words []string, seen int) {
	if isASCII(text) {
		words = asciiWords(text)
		return words, len(words)
	}
	return splitUnicode(text)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// asciiWords returns the words of splitUnicode for a text in ASCII, as most names are, in an eighth of the time.
func asciiWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	for i, word := range words {
		words[i] = word[:min(len(word), maxWordLength)]
	}
	return words
}

func splitUnicode(text string) (words []string, seen int) {
	const (
		outside = iota // of any word
		inWord
		inLetters // of a script that writes no spaces
	)
	place := outside
	var word strings.Builder
	end := func() {
		switch text := word.String(); place {
		case inWord:
			words = append(words, firstRunes(fold(text), maxWordLength))
		case inLetters: // which have no case
			words = append(words, firstRunes(text, maxWordLength))
		}
		word.Reset()
	}
	for _, r := range norm.NFKD.String(text) {
		switch {
		case isSpaceless(r):
			end()
			if place != inLetters {
				seen++
			}
			word.WriteRune(r)
			place = inLetters
		case place == inLetters && (unicode.Is(unicode.M, r) || r == prolongedSound):
			word.WriteRune(r)
		case unicode.Is(unicode.M, r):
		case unicode.In(r, unicode.L, unicode.N):
			if place != inWord {
				end()
				seen++
			}
			word.WriteRune(r)
			place = inWord
		default:
			end()
			place = outside
		}
	}
	end()
	return words, seen
}

// fold makes the case of letters not matter.
func fold(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cherokee, r) { // of which package cases exchanges the cases
			return unicode.ToUpper(r)
		}
		return r
	}, cases.Fold().String(word))
}

// prolongedSound lengthens the sound of the letter before it.
const prolongedSound = 'ー'

// isSpaceless reports whether a letter is of a script that writes no spaces between words.
func isSpaceless(r rune) bool {
	return unicode.IsLetter(r) && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// firstRunes returns the first code points of a text.
func firstRunes(text string, n int) string {
	for at := range text {
		if n == 0 {
			return text[:at]
		}
		n--
	}
	return text
}
