package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"petstore/bench/result"
)

// profile writes, for every line at many connections, a processor profile of petstore taken under load, and the top of
// it as text.
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
			if err := b.profileLine(dir, s, line.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) profileLine(dir string, s *server, line string) error {
	name := filepath.Join(dir, s.ID+"-"+line)
	fetched := make(chan error, 1)
	go func() {
		time.Sleep(b.run.Settings.Warmup)
		fetched <- fetch(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%.0f", s.admin, max(1, b.seconds)), name+".pprof")
	}()
	shot, err := b.shoot(s, line, result.Busy, 0)
	if err := <-fetched; err != nil {
		return err
	}
	if err != nil {
		return err
	}
	top, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=40", name+".pprof").Output()
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d requests, in %s.pprof and %s.txt\n", name, shot.Requests, name, name)
	return os.WriteFile(name+".txt", top, 0o644)
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
