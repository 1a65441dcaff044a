package petstore

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestWordsAreHowATextIsFound(t *testing.T) {
	for text, want := range map[string]string{
		"Rex, greyhound":          "rex greyhound",
		"ébène":                   "ebene",
		"ÉBÈNE":                   "ebene",
		"Straße 12b":              "strasse 12b",
		"o\uFB03ce \uFB01sh":      "office fish",
		"Pip & Squeak's":          "pip squeak s",
		"NEAR \"a*\" OR b% 'c'":   "near a or b c",
		"":                        "",
		"  \t\n - … 🐈":            "",
		"\u0301\u0302":            "",
		"x\u0301y":                "xy",
		"½ kg²":                   "1 2 kg2",
		"Ⅷ":                       "viii",
		"Ａｂｃ":                     "abc",
		"İstanbul":                "istanbul",
		"ΟΔΥΣΣΕΥΣ ὀδυσσεύς":       "οδυσσευσ οδυσσευσ",
		"Жёлтый":                  "желтыи",
		"秋田犬":                     "秋 田 犬",
		"ポチ":                      "ホ\u309a チ",
		"ﾊﾟｰﾙ":                    "ハ\u309aー ル",
		"しば犬2歳":                   "し は\u3099 犬 2 歳",
		"aー":                      "aー",
		"柴 dog":                   "柴 dog",
		strings.Repeat("x", 1000): strings.Repeat("x", 400),
	} {
		if got := strings.Join(Words(text), " "); got != want {
			t.Errorf("%q has the words %q, want %q", text, got, want)
		}
	}
}

func TestASearchHasOneToEightWords(t *testing.T) {
	for text, ok := range map[string]bool{
		"": false, " ": false, "?": false, "x": true, "é": true, "\u0301": false, "a\xff": false,
		"1 2 3 4 5 6 7 8": true, "1 2 3 4 5 6 7 8 9": false,
		"秋田犬秋田犬秋田犬": true, "秋田 秋田 秋田 秋田 秋田 秋田 秋田 秋田": true, "秋 田 犬 秋 田 犬 秋 田 犬": false,
		strings.Repeat("é", 100): true, strings.Repeat("x", 101): false,
	} {
		if problem := CheckSearch(text); (problem == "") != ok {
			t.Errorf("%q: %q", text, problem)
		}
	}
}

// someText draws texts of all scripts, with what is hard about them.
func someText() *rapid.Generator[string] {
	hard := rapid.SampledFrom([]rune("aZéßſﬁǅıİΣςﾊﾟーポ犬한½²Ⅷ\u0301\u0345\u3099ʼŉﷲ -'*%\"…🐈0٣ᾳΐᎠ"))
	return rapid.StringOfN(rapid.OneOf(hard, rapid.Rune()), 0, 60, -1)
}

func TestTheLawsOfWordsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkWords(t, someText().Draw(t, "text")) })
}

func TestTextsInASCIIHaveTheSameWordsTheShortWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom(nil, &unicode.RangeTable{R16: []unicode.Range16{{Hi: unicode.MaxASCII, Stride: 1}}}), 0, 500, -1).Draw(t, "text")
		words, seen := splitWords(text)
		if want, wantSeen := splitUnicode(text); !slices.Equal(words, want) || seen != wantSeen {
			t.Fatalf("%q has %d words %q, want %d %q", text, seen, words, wantSeen, want)
		}
	})
}

// FuzzWords holds the laws of words for any text.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{"Rex", "ÉBÈNE ﬁ Straße", "秋田犬 ﾊﾟｰﾙ", "İ\u0301ᾳ\u0345", "ŉ ʼn ﷺ ﷲ", "\u3099ー\u3099", "a\xffb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) {
			checkWords(t, text)
		}
	})
}

// checkWords checks that the words of words are the same, that case, accents and compatibility forms do not matter, and
// that a text is found by every beginning of its words.
func checkWords(t interface{ Fatalf(string, ...any) }, text string) {
	words := Words(text)
	if again := Words(strings.Join(words, " ")); !slices.Equal(again, words) {
		t.Fatalf("%q has the words %q, and those have %q", text, words, again)
	}
	forms := map[string]string{"NFC": norm.NFC.String(text), "NFD": norm.NFD.String(text), "NFKC": norm.NFKC.String(text)}
	if !strings.ContainsFunc(text, hasNoWayBack) {
		forms["upper case"], forms["lower case"] = strings.ToUpper(text), strings.ToLower(text)
	}
	for name, other := range forms {
		if got := Words(other); !slices.Equal(got, words) {
			t.Fatalf("%q has the words %q, as %s %q", text, words, name, got)
		}
	}
	for _, word := range words {
		if word == "" {
			t.Fatalf("%q has an empty word", text)
		}
		for at := range word {
			if at > 0 && !FoundBy(words, []string{word[:at]}) {
				t.Fatalf("%q is not found by %q", text, word[:at])
			}
		}
	}
}

// hasNoWayBack reports a letter that changes when it is written in another case and back, such as the dotless ı.
func hasNoWayBack(r rune) bool {
	return unicode.ToLower(unicode.ToUpper(r)) != unicode.ToLower(r)
}
