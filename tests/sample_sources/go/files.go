package toolkit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func eachRecord(path string, fn func(rec string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		if err := fn(sc.Text()); err != nil {
			return err
		}
	}
	return sc.Err()
}

// ReadLines reads the file line by line and returns the lines without
// their line endings. Unlike bufio.Scanner it has no limit on the length.
func ReadLines(name string) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []string
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// grep prints the numbered lines of r that contain the text want.
func grep(w io.Writer, r io.Reader, want string) error {
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		if strings.Contains(sc.Text(), want) {
			fmt.Fprintf(w, "%d: %s\n", n, sc.Text())
		}
	}
	return sc.Err()
}

// countLines reads the whole file and counts its newline characters.
func countLines(name string) (int, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	return bytes.Count(data, []byte{'\n'}), nil
}

// termCounts is like tally for a stream that is too big for memory.
func termCounts(r io.Reader) (map[string]int, error) {
	counts := make(map[string]int)
	sc := bufio.NewScanner(r)
	sc.Split(bufio.ScanWords)
	for sc.Scan() {
		counts[strings.ToLower(sc.Text())]++
	}
	return counts, sc.Err()
}

func readConfigFile(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return json.Unmarshal(data, into)
}

// visitAll calls fn with the path of everything below root, going into
// each folder before its siblings.
func visitAll(root string, fn func(path string) error) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := filepath.Join(root, e.Name())
		if err := fn(p); err != nil {
			return err
		}
		if e.IsDir() {
			if err := visitAll(p, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// findByExt collects the regular files under root whose names end in ext.
func findByExt(root, ext string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() && filepath.Ext(p) == ext {
			found = append(found, p)
		}
		return nil
	})
	return found, err
}

// directorySize adds up the sizes of all files in a directory tree.
func directorySize(root string) (int64, error) {
	var total int64
	err := filepath.Walk(root, func(_ string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if !info.IsDir() {
			total += info.Size()
		}
		return nil
	})
	return total, err
}

func makeDirectoryTree(root string, names ...string) error {
	for _, n := range names {
		if err := os.MkdirAll(filepath.Join(root, n), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// commonFolder returns the deepest folder that holds all of the paths.
func commonFolder(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	dir := filepath.Dir(paths[0])
	for _, p := range paths[1:] {
		for dir != filepath.Dir(dir) && !strings.HasPrefix(p, dir+string(filepath.Separator)) {
			dir = filepath.Dir(dir)
		}
	}
	return dir
}

// hashFile returns the hexadecimal SHA-256 of the contents of a file.
func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
