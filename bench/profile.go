package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"petstore/bench/result"
)

// profileLines writes, for every line at many connections, what petstore spends its processor time on under load.
func (b *bench) profileLines() error {
	if err := os.MkdirAll(b.profile, 0o755); err != nil {
		return err
	}
	if err := b.startServices(); err != nil {
		return err
	}
	for _, s := range b.services {
		if s.admin == "" {
			continue
		}
		for _, line := range result.Lines {
			file := filepath.Join(b.profile, s.ID+"-"+line.ID+".pprof")
			fetched := make(chan error)
			go func() {
				time.Sleep(b.run.Settings.Warmup)
				fetched <- fetch(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%.0f", s.admin, max(1, b.seconds)), file)
			}()
			err := b.shoot(s, result.Key{Line: line.ID, Connections: result.Busy}, 0, 0)
			if err := errors.Join(err, <-fetched); err != nil {
				return err
			}
			fmt.Println(file)
		}
	}
	return nil
}

func fetch(url, file string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return errors.Join(err, os.WriteFile(file, body, 0o644))
}
