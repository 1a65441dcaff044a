package transfer_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"petstore/internal/transfer"
)

func ExampleReader() {
	file := strings.NewReader("name,categoryId\nBiscuit,1\nOlive,many\nPepper,2\n")
	reader, err := transfer.NewReader(file, transfer.CSV)
	if err != nil {
		log.Fatal(err)
	}
	for {
		line, err := reader.Next()
		if bad := (*transfer.BadLine)(nil); errors.As(err, &bad) {
			fmt.Println(bad)
			continue
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(line.Number, line.Pet.Name, line.Pet.Status)
	}
	// Output:
	// 2 Biscuit available
	// line 3: categoryId must be a whole number from -9223372036854775808 to 9223372036854775807.
	// 4 Pepper available
}

func ExampleNewWriter() {
	writer, err := transfer.NewWriter(os.Stdout, transfer.CSV)
	if err != nil {
		log.Fatal(err)
	}
	writer.Write(transfer.Pet{ID: 1, Name: "Biscuit, beagle mix", CategoryID: 1, Status: "available"})
	writer.Flush()
	// Output:
	// id,name,categoryId,status
	// 1,"Biscuit, beagle mix",1,available
}
