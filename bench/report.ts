/** What a figure has to be. Ratios, exact counts, and times that are promised: other seconds are the machine’s, and shown without a bar. */
export interface Bar {
  /** As it is printed: `≤ 1.5×`. */
  readonly text: string;
  readonly holds: boolean;
}

/** The bar that a value may not be above. */
export function atMost(value: number, limit: number, unit = ''): Bar {
  return { text: `≤ ${limit}${unit}`, holds: value <= limit };
}

const COLUMNS = { figure: 66, value: 38 };

/** Prints figures as they come, and counts the bars that they do not reach. */
export class Report {
  #bars = 0;
  readonly #missed: string[] = [];

  section(title: string): void {
    console.log(`\n${title}\n${'─'.repeat(title.length)}`);
  }

  /** Something that the reader has to know of the figures above or below. */
  note(text: string): void {
    console.log(`  ${text}`);
  }

  row(figure: string, value: string, bar?: Bar): void {
    const line = `  ${figure.padEnd(COLUMNS.figure)} ${value.padEnd(COLUMNS.value)}`;
    if (!bar) {
      console.log(line.trimEnd());
      return;
    }
    this.#bars += 1;
    if (!bar.holds) this.#missed.push(figure);
    console.log(`${line}${bar.holds ? '✓' : '✗'} ${bar.text}`);
  }

  /** A table of its own columns, the first one for names. */
  table(head: readonly string[], rows: readonly (readonly string[])[]): void {
    const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)));
    for (const row of [head, ...rows]) {
      const cells = row.map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      );
      console.log(`  ${cells.join('  ')}`);
    }
  }

  /** Prints how many bars were reached. @returns the exit code: 0 when all were */
  conclude(): number {
    const missed = this.#missed.length;
    console.log(
      `\n${this.#bars - missed} of ${this.#bars} bars reached${missed === 0 ? '' : `; not: ${this.#missed.join('; ')}`}`,
    );
    return missed === 0 ? 0 : 1;
  }
}
