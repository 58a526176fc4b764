import type { SourcePosition } from './manifest.ts';

/** One document of a file: its text, and where that begins. */
export class SourceDocument {
  readonly text: string;
  readonly #line: number;
  readonly #column: number;

  constructor(text: string, line: number, column = 1) {
    this.text = text;
    this.#line = line;
    this.#column = column;
  }

  /** The place in the file of an offset in the text. */
  positionOf(offset: number): Pick<SourcePosition, 'line' | 'column'> {
    const before = this.text.slice(0, offset);
    const lineStart = before.lastIndexOf('\n') + 1;
    if (lineStart === 0) return { line: this.#line, column: this.#column + before.length };
    return { line: this.#line + before.split('\n').length - 1, column: before.length - lineStart + 1 };
  }
}
