// Search over what is sent, and over what is in the files but is not sent.

/** More hits than this are not collected. */
const HIT_LIMIT = 5000;

/** What is searched for, and where it was found. */
class Search {
  constructor() {
    this.clear();
  }

  clear() {
    this.needle = "";
    this.hits = [];
    this.current = -1;
    this.full = false;
  }

  /** Looks through the prompt of a view, then through those rows of its files that are not in the prompt. */
  run(page, view, query) {
    this.clear();
    this.needle = query.toLowerCase();
    if (this.needle === "") return;
    promptOf(view).fragments.forEach((rows, fragment) => {
      for (const row of rows) this.collect(row, { fragment, file: null });
    });
    for (const file of filesOf(page, view)) {
      for (const row of fileRows(page, file)) {
        if (row.outside) this.collect(row, { fragment: file.fragment, file });
      }
    }
  }

  collect(row, place) {
    if (this.full) return;
    for (const range of this.find(row)) {
      if (this.hits.length >= HIT_LIMIT) {
        this.full = true;
        return;
      }
      this.hits.push({ ...place, row, start: range.start });
    }
  }

  find(row) {
    const ranges = [];
    if (this.needle === "" || !row.spans) return ranges;
    const text = rowText(row);
    let lower = text.toLowerCase();
    // A few letters change their length with their case; then places would not fit, so case counts.
    if (lower.length !== text.length) lower = text;
    for (let at = lower.indexOf(this.needle); at >= 0; at = lower.indexOf(this.needle, at + this.needle.length)) {
      ranges.push({ start: at, end: at + this.needle.length });
    }
    return ranges;
  }

  /** Says what to mark in a row. */
  rangesIn(row) {
    const ranges = this.find(row);
    const hit = this.hits[this.current];
    if (hit && hit.row === row) for (const range of ranges) range.current = range.start === hit.start;
    return ranges;
  }

  /** Moves on, around the end, and returns the hit. */
  step(by) {
    if (this.hits.length === 0) return null;
    const from = this.current < 0 && by < 0 ? 0 : this.current;
    this.current = (from + by + this.hits.length) % this.hits.length;
    return this.hits[this.current];
  }

  /** Says in words how the search went. */
  describe() {
    if (this.needle === "") return "";
    if (this.hits.length === 0) return "Not found";
    const more = this.full ? "+" : "";
    const inPrompt = this.hits.filter((hit) => hit.file === null).length;
    const place = this.current < 0 ? "" : `${count(this.current + 1)} of `;
    const outside = this.hits.length - inPrompt;
    const split = outside > 0 ? ` · ${count(inPrompt)} sent, ${count(outside)} not sent` : "";
    return `${place}${count(this.hits.length)}${more}${split}`;
  }
}
