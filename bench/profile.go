package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"petstore/bench/result"
)

// profile writes, for every line at many connections, what petstore spends its processor time on under load and what it
// allocates: the profiles, and the top of each as text.
func (b *bench) profile(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := b.startServers(); err != nil {
		return err
	}
	for _, s := range b.servers {
		if s.admin == "" {
			continue
		}
		for _, line := range result.Lines {
			if err := b.profileLine(filepath.Join(dir, s.ID+"-"+line.ID), s, line.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) profileLine(name string, s *server, line string) error {
	for _, text := range []string{name + ".profile.txt", name + ".allocs.txt"} {
		if err := os.RemoveAll(text); err != nil { // of a run before
			return err
		}
	}
	fetched := make(chan error, 2)
	for _, kind := range []string{"profile", "allocs"} {
		go func() {
			time.Sleep(b.run.Settings.Warmup)
			fetched <- fetch(fmt.Sprintf("http://%s/debug/pprof/%s?seconds=%.0f", s.admin, kind, max(1, b.seconds)), name+"."+kind)
		}()
	}
	shot, err := b.shoot(s, line, result.Busy, 0)
	if err := errors.Join(err, <-fetched, <-fetched); err != nil {
		return err
	}
	fmt.Printf("%s: %d requests\n", name, shot.Requests)
	return errors.Join(
		top(name+".profile"), top(name+".profile", "-cum"),
		top(name+".allocs", "-sample_index=alloc_space"), top(name+".allocs", "-sample_index=alloc_objects"))
}

// top appends the heaviest of a profile to the text beside it.
func top(file string, options ...string) error {
	args := append([]string{"tool", "pprof", "-top", "-nodecount=60"}, options...)
	text, err := exec.Command("go", append(args, file)...).Output()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(file+".txt", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return errors.Join(err, out.Close())
}

func fetch(url, file string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, answer.Body)
	return err
}
