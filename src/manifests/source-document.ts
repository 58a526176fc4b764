import type { SourcePosition } from './manifest.ts';

/** One document of a file: its text, and where that begins. */
export class SourceDocument {
  readonly text: string;
  readonly #line: number;
  readonly #column: number;
  #lineStarts: readonly number[] | undefined;

  constructor(text: string, line: number, column = 1) {
    this.text = text;
    this.#line = line;
    this.#column = column;
  }

  /** The place in the file of an offset in the text. */
  positionOf(offset: number): Pick<SourcePosition, 'line' | 'column'> {
    const starts = (this.#lineStarts ??= lineStarts(this.text));
    const line = lastAtMost(starts, offset);
    const column = offset - (starts[line] ?? 0);
    return { line: this.#line + line, column: column + (line === 0 ? this.#column : 1) };
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let newline = text.indexOf('\n'); newline >= 0; newline = text.indexOf('\n', newline + 1)) {
    starts.push(newline + 1);
  }
  return starts;
}

/** The index of the last number that is not above a bound, in an ascending list that starts with 0. */
function lastAtMost(ascending: readonly number[], bound: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((ascending[middle] ?? 0) <= bound) low = middle;
    else high = middle - 1;
  }
  return low;
}
