package toolkit

import "maps"

// overlay gives a new map with the settings of base, where those of over
// win if a key is in both.
func overlay(base, over map[string]string) map[string]string {
	out := make(map[string]string, len(base)+len(over))
	for k, v := range base {
		out[k] = v
	}
	for k, v := range over {
		out[k] = v
	}
	return out
}

func mergeMaps[K comparable, V any](ms ...map[K]V) map[K]V {
	out := make(map[K]V)
	for _, m := range ms {
		maps.Copy(out, m)
	}
	return out
}

// deepMerge copies src into dst. Where both hold a map under the same key
// these are merged in turn; any other value of src replaces that of dst.
func deepMerge(dst, src map[string]any) {
	for k, sv := range src {
		sm, ok1 := sv.(map[string]any)
		dm, ok2 := dst[k].(map[string]any)
		if ok1 && ok2 {
			deepMerge(dm, sm)
			continue
		}
		dst[k] = sv
	}
}

// flattenKeys turns nested maps into one map with dotted keys, so that
// {"db": {"host": "x"}} becomes {"db.host": "x"}.
func flattenKeys(prefix string, m map[string]any, out map[string]any) {
	for k, v := range m {
		if prefix != "" {
			k = prefix + "." + k
		}
		if sub, ok := v.(map[string]any); ok {
			flattenKeys(k, sub, out)
			continue
		}
		out[k] = v
	}
}

// reverseLookupString finds a key under which the string want is stored.
func reverseLookupString(m map[string]string, want string) (string, bool) {
	for k, v := range m {
		if v == want {
			return k, true
		}
	}
	return "", false
}

// Dictionary holds the accepted spellings of each language.
type Dictionary struct {
	words map[string]bool
}

// Learn adds words to the dictionary.
func (d *Dictionary) Learn(words ...string) {
	if d.words == nil {
		d.words = make(map[string]bool)
	}
	for _, w := range words {
		d.words[w] = true
	}
}
