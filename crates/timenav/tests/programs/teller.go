// Says what time it is whenever it reads a line.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(time.Now().Unix())
	}
	os.Exit(5)
}
