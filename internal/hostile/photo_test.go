package hostile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"sync"
	"testing"
)

// photoBomb returns the file of a PNG that is small itself and takes as much memory and time to decode as any that the
// server accepts.
func photoBomb() []byte {
	const width, height, pixel = 6000, 4000, 8 // bytes
	file := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		file = binary.BigEndian.AppendUint32(file, uint32(len(data)))
		begin := len(file)
		file = append(append(file, kind...), data...)
		file = binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(file[begin:]))
	}
	header := binary.BigEndian.AppendUint32(nil, width)
	header = binary.BigEndian.AppendUint32(header, height)
	chunk("IHDR", append(header, 16, 6, 0, 0, 0)) // 16 bits each of red, green, blue and alpha
	var pixels bytes.Buffer
	writer := zlib.NewWriter(&pixels)
	for range height {
		writer.Write(make([]byte, 1+width*pixel))
	}
	writer.Close()
	chunk("IDAT", pixels.Bytes())
	chunk("IEND", nil)
	return file
}

// maxPhotoMemory is how much memory the server may take while it is attacked with photos: one is decoded at a time.
const maxPhotoMemory = 256<<20 + 64<<20 + 128<<20

// photoBombs sends the bomb on eight connections at once, for several owners, each of which sends more than it may.
func photoBombs(t *testing.T, s *target) {
	bomb := photoBomb()
	keys := []string{key, s.newKey(), s.newKey()}
	peak := s.peak()
	var senders sync.WaitGroup
	var mu sync.Mutex
	statuses := make(map[int]int)
	for i := range 8 {
		head := strings.Replace(s.head("POST", "/v1/pets/1/photos", closeHeader, "Content-Type: image/png", fmt.Sprintf("Content-Length: %d", len(bomb))), key, keys[i%len(keys)], 1)
		senders.Go(func() {
			for range 2 + repeats() { // so that several are decoded, one after the other
				got, _ := s.exchange(t, head+string(bomb))
				mu.Lock()
				for _, status := range got {
					statuses[status]++
				}
				mu.Unlock()
			}
		})
	}
	senders.Wait()
	for status := range statuses {
		if !slices.Contains(want{201, 409, 503}, status) {
			t.Errorf("a bomb is answered %d", status)
		}
	}
	if statuses[201] == 0 {
		t.Error("no photo was decoded")
	}
	if highest := peak(); highest > maxPhotoMemory {
		t.Errorf("the server took %d MiB", highest>>20)
	} else {
		t.Logf("answers %v, %d MiB at most", statuses, highest>>20)
	}
}
