import type { SourcePosition } from './manifest.ts';
import { SourceDocument } from './source-document.ts';

const SEPARATOR = '---';
const BYTE_ORDER_MARK = '\uFEFF';
/** What may stand after a separator, as kubectl has it. */
const NOTHING = /^\s*(?:#|$)/;
const NOTHING_BUT_COMMENTS = /^(?:[ \t\r]*(?:#[^\n]*)?(?:\n|$))*$/;

/** A file, cut into documents. */
export interface SplitFile {
  /** Those that hold something. */
  readonly documents: readonly SourceDocument[];
  /** Separators that are none. */
  readonly errors: readonly (Pick<SourcePosition, 'line' | 'column'> & { readonly message: string })[];
}

/**
 * Cuts a file as kubectl does: at lines that begin with `---`, whatever YAML would make of them, and between JSON objects
 * that follow one another.
 */
export function splitDocuments(content: string): SplitFile {
  const documents: SourceDocument[] = [];
  const errors: { line: number; column: number; message: string }[] = [];
  const push = (text: string, line: number): void => {
    const bare = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
    if (!NOTHING_BUT_COMMENTS.test(bare)) documents.push(...splitJson(bare, line));
  };
  let start = 0;
  let startLine = 1;
  for (const { offset, line, text } of separators(content)) {
    push(content.slice(start, offset), startLine);
    if (!NOTHING.test(text.slice(SEPARATOR.length))) {
      const message = 'only a comment may follow --- on its line; kubectl reads it so, whatever YAML allows';
      errors.push({ line, column: SEPARATOR.length + 1, message });
    }
    start = offset + text.length + 1;
    startLine = line + 1;
  }
  push(content.slice(start), startLine);
  return { documents, errors };
}

function* separators(content: string): Generator<{ offset: number; line: number; text: string }> {
  let line = 1;
  for (let offset = 0; offset <= content.length; line += 1) {
    const newline = content.indexOf('\n', offset);
    const end = newline < 0 ? content.length : newline;
    if (content.startsWith(SEPARATOR, offset)) yield { offset, line, text: content.slice(offset, end) };
    offset = end + 1;
  }
}

/** `{…}{…}` is two objects; anything else is left as it is, for YAML to judge. */
function splitJson(text: string, line: number): readonly SourceDocument[] {
  const whole = new SourceDocument(text, line);
  const pieces = balancedObjects(text);
  if (pieces.length < 2 || !pieces.every(([from, to]) => isJson(text.slice(from, to)))) return [whole];
  return pieces.map(([from, to]) => {
    const position = whole.positionOf(from);
    return new SourceDocument(text.slice(from, to), position.line, position.column);
  });
}

/** Where objects begin and end, if there is nothing else but blanks between them. */
function balancedObjects(text: string): readonly (readonly [number, number])[] {
  const pieces: [number, number][] = [];
  // A string as a whole, a brace, or anything else that is not blank.
  const token = /"(?:[^"\\]|\\.)*"|[{}]|[^\s{}"]+|"/gs;
  let depth = 0;
  let start = 0;
  for (const { 0: part, index } of text.matchAll(token)) {
    if (part !== '{' && depth === 0) return [];
    if (part === '{') {
      if (depth === 0) start = index;
      depth += 1;
    } else if (part === '}') {
      depth -= 1;
      if (depth === 0) pieces.push([start, index + 1]);
    }
  }
  return depth === 0 ? pieces : [];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
