package toolkit

import (
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Order is one purchase.
type Order struct {
	ID      int
	Placed  time.Time
	Cents   int64
	Country string
}

// writeCSV writes a header and the rows to w.
func writeCSV(w io.Writer, header []string, rows [][]string) error {
	cw := csv.NewWriter(w)
	if err := cw.Write(header); err != nil {
		return err
	}
	return cw.WriteAll(rows)
}

// exportOrders saves the orders as a spreadsheet, one record each.
func exportOrders(path string, orders []Order) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := csv.NewWriter(f)
	for _, o := range orders {
		out.Write([]string{
			strconv.Itoa(o.ID),
			o.Placed.Format(time.DateOnly),
			strconv.FormatInt(o.Cents, 10),
			o.Country,
		})
	}
	out.Flush()
	if err := out.Error(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func downloadTable(w http.ResponseWriter, name string, table [][]string) {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(name))
	cw := csv.NewWriter(w)
	for _, rec := range table {
		cw.Write(rec)
	}
	cw.Flush()
}

// readCSV loads all rows of a csv file but the header.
func readCSV(r io.Reader) ([][]string, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[1:], nil
}

// csvField quotes s if a comma, a quote or a line break makes it
// necessary.
func csvField(s string) string {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// writeRows inserts the rows into a database table within tx.
func writeRows(tx *sql.Tx, rows [][]any) error {
	for i, row := range rows {
		_, err := tx.Exec("INSERT INTO prices (sku, cents) VALUES (?, ?)", row...)
		if err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

// summary prints the key figures of a series of response times.
func summary(w io.Writer, millis []float64) {
	fmt.Fprintf(w, "samples %d\n", len(millis))
	fmt.Fprintf(w, "mean    %.1f ms\n", computeMean(millis))
	fmt.Fprintf(w, "median  %.1f ms\n", middle(millis))
	fmt.Fprintf(w, "p99     %.1f ms\n", quantile(millis, 0.99))
}

// diskUsage prints one line with name and readable size for each folder.
func diskUsage(w io.Writer, dirs []string) error {
	for _, dir := range dirs {
		n, err := directorySize(dir)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%10s  %s\n", prettyBytes(n), dir)
	}
	return nil
}
