package toolkit

import (
	"slices"
	"sort"
	"strings"
	"unicode"
)

// backwards returns s with its runes in opposite order. It works on
// runes, not bytes, so multi-byte characters stay intact.
func backwards(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

func reverseWords(s string) string {
	parts := strings.Fields(s)
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, " ")
}

func reversed(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

// flipASCII swaps the bytes of b end for end, in place. The caller must
// make sure that b holds single-byte characters only.
func flipASCII(b []byte) {
	n := len(b)
	for i := 0; i < n/2; i++ {
		b[i], b[n-1-i] = b[n-1-i], b[i]
	}
}

// tally maps every term of the text, lower-cased and stripped of
// punctuation, to the number of times it occurs.
func tally(text string) map[string]int {
	seen := make(map[string]int)
	for _, f := range strings.Fields(text) {
		f = strings.ToLower(strings.TrimFunc(f, unicode.IsPunct))
		if f != "" {
			seen[f]++
		}
	}
	return seen
}

// topWords lists the n most frequent words of text, most frequent first.
// Words with the same frequency come in alphabetical order.
func topWords(text string, n int) []string {
	counts := tally(text)
	words := make([]string, 0, len(counts))
	for w := range counts {
		words = append(words, w)
	}
	sort.Slice(words, func(i, j int) bool {
		if counts[words[i]] != counts[words[j]] {
			return counts[words[i]] > counts[words[j]]
		}
		return words[i] < words[j]
	})
	if n < len(words) {
		words = words[:n]
	}
	return words
}

// countWords counts the words of s, repeated ones included.
func countWords(s string) int {
	return len(strings.Fields(s))
}

// letterFrequencies counts how often each letter appears in s.
func letterFrequencies(s string) map[rune]int {
	freq := map[rune]int{}
	for _, r := range strings.ToLower(s) {
		if unicode.IsLetter(r) {
			freq[r]++
		}
	}
	return freq
}

// sharedStart returns the opening characters on which all of the given
// names agree.
func sharedStart(names []string) string {
	if len(names) == 0 {
		return ""
	}
	head := names[0]
	for _, name := range names[1:] {
		for !strings.HasPrefix(name, head) {
			head = head[:len(head)-1]
		}
	}
	return head
}

func lcp(a, b string) string {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	return a[:i]
}

// longestCommonSuffix returns the longest string that both a and b end in.
func longestCommonSuffix(a, b string) string {
	i, j := len(a), len(b)
	for i > 0 && j > 0 && a[i-1] == b[j-1] {
		i--
		j--
	}
	return a[i:]
}

// tokenize breaks an expression into tokens at spaces and operators.
func tokenize(expr string) []string {
	var tokens []string
	start := 0
	for i, r := range expr {
		if unicode.IsSpace(r) || strings.ContainsRune("+-*/()", r) {
			if start < i {
				tokens = append(tokens, expr[start:i])
			}
			if !unicode.IsSpace(r) {
				tokens = append(tokens, string(r))
			}
			start = i + 1
		}
	}
	if start < len(expr) {
		tokens = append(tokens, expr[start:])
	}
	return tokens
}

func truncate(s string, max int) string {
	r := []rune(s)
	if len(r) <= max {
		return s
	}
	return string(r[:max]) + "…"
}
