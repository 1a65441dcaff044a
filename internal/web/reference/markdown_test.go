package reference

import (
	"html/template"
	"strings"
	"testing"
)

func templateHTML(text string) template.HTML { return template.HTML(text) }

func TestMarkdown(t *testing.T) {
	for source, want := range map[string]string{
		"# Title\n\nOne\ntwo.":                        "<p>One\ntwo.</p>",
		"## A `b`, c":                                 `<h2 id="a-b-c" tabindex="-1">A <code>b</code>, c <a class="anchor" href="#a-b-c" aria-label="Link to A b, c">#</a></h2>`,
		"- a\n  b\n- **c**":                           "<ul><li>a\n  b</li><li><strong>c</strong></li></ul>",
		"1. a\n2. *b c* d":                            "<ol><li>a</li><li><em>b c</em> d</li></ol>",
		"2 * 3 * 4, `*a*`, a* b*":                     "<p>2 * 3 * 4, <code>*a*</code>, a* b*</p>",
		"[`a` b](clients.md#go), [c](x.md)":           `<p><a href="clients#go"><code>a</code> b</a>, c</p>`,
		"[a](javascript:alert(1)) [b](http://other/)": `<p>[a](javascript:alert(1)) b</p>`,
		`[a](https://x/"onclick=b)`:                   `<p><a href="https://x/&#34;onclick=b">a</a></p>`,
		`![a "b"](img/life.svg)`:                      `<p><img src="img/life.svg" alt="a &#34;b&#34;"></p>`,
		"| A | |\n|---|---|\n| `b\\|c` | d |":         `<table><thead><tr><th scope="col">A</th><td></td></tr></thead><tbody><tr><th scope="row"><code>b|c</code></th><td>d</td></tr></tbody></table>`,
		"| | |\n|---|---|\n| a | b |":                 `<table><tbody><tr><th scope="row">a</th><td>b</td></tr></tbody></table>`,
		"| A | B |\n|---|---|\n| a | b |":             `<table><thead><tr><th scope="col">A</th><th scope="col">B</th></tr></thead><tbody><tr><th scope="row">a</th><td data-column="B">b</td></tr></tbody></table>`,
		"| lone":                                      "<p>| lone</p>",
		"|---":                                        "<p>|---</p>",
		"a `b":                                        "<p>a `b</p>",
		"<b>&\x000\x00":                               "<p>&lt;b&gt;&amp;0</p>",
		"text\n```sh\n<a>\n\n# b\n```":                "<p>text</p>" + codeBlock("Shell", "&lt;a&gt;\n\n# b"),
		"```\nnever closed\n\n## x":                   codeBlock("Example", "never closed\n\n## x"),
		"```":                                         codeBlock("Example", ""),
	} {
		w := writer{level: 2, href: func(target string) string {
			if address, served := addressOf(target); served {
				return address
			}
			return ""
		}}
		if w.write(source); w.String() != want {
			t.Errorf("%q is rendered as\n%s\nwant\n%s", source, w.String(), want)
		}
	}
	if got := markdown("## A\n\n[b](clients.md)"); got != "<h3>A</h3><p>[b](clients.md)</p>" {
		t.Errorf("a text of the reference is rendered as %s", got)
	}
}

func codeBlock(language, code string) string {
	return strings.Join([]string{`<div class="code"><div class="code-head">`, language,
		` <button type="button" class="copy">Copy<span class="out"> this code</span></button></div><pre><code>`, code, `</code></pre></div>`}, "")
}

// Nothing that is not Markdown of ours may break the page.
func FuzzMarkdown(f *testing.F) {
	for _, g := range Guides {
		f.Add(g.source())
	}
	f.Add("```\n|\n|--\n- \n1. \n[](x)![](y)`\x00`**")
	f.Fuzz(func(t *testing.T, source string) {
		w := writer{level: 2, href: func(target string) string { return target }}
		w.write(source)
		if text := w.String(); strings.Contains(text, "<script") || strings.Contains(text, "<svg") {
			t.Errorf("%q is rendered with markup of its own:\n%s", source, text)
		}
	})
}
