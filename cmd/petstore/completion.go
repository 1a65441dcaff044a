package main

import (
	"cmp"
	"strings"
	"text/template"

	"petstore/internal/terminal"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c *completionCmd) Run(command *kong.Context, con *terminal.Console) error {
	return completions.ExecuteTemplate(con.Stdout, c.Shell, stepsFrom(command.Model.Node, "", ""))
}

// step is a command that the user has typed, and the words that may follow the command.
type step struct {
	Path  string // the command, such as "keys create"
	Typed string // the command as the completion scripts match it: "keys create", but " keys" if it is a single word
	Words []word
}

// word is a command, a value of an argument, or a flag.
type word struct {
	Text, Help string
	Flag       bool
	Alone      bool     // whether the word is a flag without a value
	Values     []string // the possible values of a flag, if they are few
	Profiles   bool     // whether the values of the flag are the names of profiles
}

// TakesValue reports whether a word is a flag that a value must follow.
func (w word) TakesValue() bool { return w.Flag && !w.Alone }

// stepsFrom returns the steps of a command and of its subcommands.
func stepsFrom(node *kong.Node, path, typed string) []step {
	here := step{Path: path, Typed: typed}
	var below []step
	for _, child := range node.Children {
		here.Words = append(here.Words, word{Text: child.Name, Help: child.Help})
	}
	for _, child := range node.Children {
		typed := path + " " + child.Name
		steps := stepsFrom(child, strings.TrimSpace(typed), typed)
		if child.Name == "help" { // the name of any command may follow the word help
			steps[0].Words = append(steps[0].Words, here.Words...)
		}
		below = append(below, steps...)
	}
	for _, argument := range node.Positional {
		for _, value := range values(argument) {
			here.Words = append(here.Words, word{Text: value, Help: argument.Help})
		}
	}
	for _, group := range cmp.Or(node.DefaultCmd, node).AllFlags(true) {
		for _, flag := range group {
			here.Words = append(here.Words, word{Text: "--" + flag.Name, Help: flag.Help, Flag: true, Alone: flag.IsBool(), Values: values(flag.Value), Profiles: flag.Name == "profile"})
		}
	}
	return append([]step{here}, below...)
}

func values(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return v.EnumSlice()
}

var completions = template.Must(template.New("").Funcs(template.FuncMap{
	"join": func(words []string) string { return strings.Join(words, " ") },
	"quote": func(parts ...string) string {
		return "'" + strings.ReplaceAll(strings.Join(parts, ""), "'", `'\''`) + "'"
	},
}).Parse(`
{{- define "bash" -}}
# petstore completion bash > /usr/share/bash-completion/completions/petstore
_petstore() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command="" words="" i
  if [[ $word == = ]]; then word=""; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
{{- range .}}{{if .Path}}
      {{quote .Typed}}) command={{quote .Path}} ;;
{{- end}}{{end}}
    esac
  done
  case "$command $before" in
{{- range $step := .}}{{range .Words}}{{if .TakesValue}}
    {{quote $step.Path " " .Text}}) words={{if .Profiles}}$(petstore profiles 2>/dev/null | cut -f1){{else}}{{quote (join .Values)}}{{end}} ;;
{{- end}}{{end}}{{end}}
    *) case "$command" in
{{- range .}}
      {{quote .Path}}) words="{{range .Words}}{{.Text}} {{end}}" ;;
{{- end}}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _petstore petstore
{{end}}

{{- define "zsh" -}}
#compdef petstore
# petstore completion zsh > "${fpath[1]}/_petstore"
_petstore() {
  local command="" word
  local -a list
  for word in "${(@)words[2,CURRENT-1]}"; do
    case "$command $word" in
{{- range .}}{{if .Path}}
      {{quote .Typed}}) command={{quote .Path}} ;;
{{- end}}{{end}}
    esac
  done
  case "$command ${words[CURRENT-1]}" in
{{- range $step := .}}{{range .Words}}{{if .TakesValue}}
    {{quote $step.Path " " .Text}}) list=({{if .Profiles}}$(petstore profiles 2>/dev/null | cut -f1){{else}}{{join .Values}}{{end}}) ;;
{{- end}}{{end}}{{end}}
    *) case "$command" in
{{- range .}}
      {{quote .Path}}) list=(
{{- range .Words}}
        {{quote .Text ":" .Help}}
{{- end}}
      ) ;;
{{- end}}
    esac ;;
  esac
  _describe petstore list || _files
}
if [[ $funcstack[1] == _petstore ]]; then _petstore "$@"; else compdef _petstore petstore; fi
{{end}}

{{- define "fish" -}}
# petstore completion fish > ~/.config/fish/completions/petstore.fish
function __petstore_at
    set -l command ''
    for word in (commandline -opc)[2..-1]
        switch "$command $word"
{{- range .}}{{if .Path}}
            case {{quote .Typed}}
                set command {{quote .Path}}
{{- end}}{{end}}
        end
    end
    test "$command" = "$argv"
end
{{- range $step := .}}{{if not (index .Words 0).Flag}}
complete -c petstore -n {{quote "__petstore_at " $step.Path}} -f
{{- end}}{{range .Words}}
complete -c petstore -n {{quote "__petstore_at " $step.Path}} -d {{quote .Help}}
{{- if not .Flag}} -a {{.Text}}
{{- else}} -l {{slice .Text 2}}{{if .Values}} -x -a {{quote (join .Values)}}{{else if .Profiles}} -x -a '(petstore profiles 2>/dev/null)'{{else if .TakesValue}} -r -F{{end}}
{{- end}}
{{- end}}{{end}}
{{end}}
`))
