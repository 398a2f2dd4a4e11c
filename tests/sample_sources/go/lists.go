package toolkit

import (
	"cmp"
	"slices"
	"strings"
)

func uniq(in []string) []string {
	seen := make(map[string]struct{}, len(in))
	out := in[:0:0]
	for _, s := range in {
		if _, ok := seen[s]; ok {
			continue
		}
		seen[s] = struct{}{}
		out = append(out, s)
	}
	return out
}

// distinctSorted returns the different values of xs in ascending order;
// xs itself is left alone.
func distinctSorted[T cmp.Ordered](xs []T) []T {
	c := slices.Clone(xs)
	slices.Sort(c)
	return slices.Compact(c)
}

// removeDuplicatesBy keeps the first element for each key that the key
// function yields and drops the later ones.
func removeDuplicatesBy[T any, K comparable](items []T, key func(T) K) []T {
	seen := make(map[K]bool)
	var kept []T
	for _, item := range items {
		k := key(item)
		if !seen[k] {
			seen[k] = true
			kept = append(kept, item)
		}
	}
	return kept
}

func hasDuplicates(list []string) bool {
	seen := map[string]bool{}
	for _, s := range list {
		if seen[s] {
			return true
		}
		seen[s] = true
	}
	return false
}

// batches cuts xs into consecutive sub-slices of at most n elements.
func batches[T any](xs []T, n int) [][]T {
	if n < 1 {
		panic("batches: n must be positive")
	}
	var out [][]T
	for len(xs) > n {
		out = append(out, xs[:n:n])
		xs = xs[n:]
	}
	if len(xs) > 0 {
		out = append(out, xs)
	}
	return out
}

// eachPage hands xs to fn piece by piece, size elements at a time, and
// stops at the first error.
func eachPage[T any](xs []T, size int, fn func(page []T) error) error {
	for page := range slices.Chunk(xs, size) {
		if err := fn(page); err != nil {
			return err
		}
	}
	return nil
}

// splitEvenly splits list into the given number of parts, whose lengths
// differ by one at most.
func splitEvenly(list []int, parts int) [][]int {
	out := make([][]int, 0, parts)
	for i := 0; i < parts; i++ {
		lo := i * len(list) / parts
		hi := (i + 1) * len(list) / parts
		out = append(out, list[lo:hi])
	}
	return out
}

// windows returns all overlapping runs of n neighbours.
func windows(xs []float64, n int) [][]float64 {
	var out [][]float64
	for i := 0; i+n <= len(xs); i++ {
		out = append(out, xs[i:i+n])
	}
	return out
}

// splitList parses a comma-separated option such as "a, b,c".
func splitList(s string) []string {
	var list []string
	for _, part := range strings.Split(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

func concatAll[T any](groups [][]T) []T {
	total := 0
	for _, g := range groups {
		total += len(g)
	}
	out := make([]T, 0, total)
	for _, g := range groups {
		out = append(out, g...)
	}
	return out
}

// leaves descends into v as long as it meets []any values and gathers
// everything else, from left to right, into a single slice.
func leaves(v any) []any {
	group, ok := v.([]any)
	if !ok {
		return []any{v}
	}
	var out []any
	for _, item := range group {
		out = append(out, leaves(item)...)
	}
	return out
}

// nestedDepth tells how deeply lists are nested in v; a plain value has
// depth zero.
func nestedDepth(v any) int {
	list, ok := v.([]any)
	if !ok {
		return 0
	}
	deepest := 0
	for _, item := range list {
		deepest = max(deepest, nestedDepth(item))
	}
	return deepest + 1
}

// reverse turns xs around in place.
func reverse[T any](xs []T) {
	for i, j := 0, len(xs)-1; i < j; i, j = i+1, j-1 {
		xs[i], xs[j] = xs[j], xs[i]
	}
}
