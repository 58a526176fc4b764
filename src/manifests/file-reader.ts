import type { KubernetesObject } from '../kernel/index.ts';
import { DocumentError } from './document-error.ts';
import { splitDocuments } from './document-splitter.ts';
import { FieldPositions, parseFieldPath, type Step } from './field-positions.ts';
import type { ManifestLimits } from './manifest-limits.ts';
import type { Manifest, ManifestError, SourcePosition } from './manifest.ts';
import { isJsonObject, objectMistakes, withoutServerFields, type FieldMistake } from './object-check.ts';
import type { SourceDocument } from './source-document.ts';
import { parseDocument } from './yaml-document.ts';

/** Says what is wrong with an object, at paths such as `spec.overrides[0].name`: `api`'s `validateObject`. */
export type Validate = (object: KubernetesObject) => readonly FieldMistake[];

/** What a file holds. It depends on the content only, so that the file's name is not in it. */
export interface FileReading {
  readonly manifests: readonly { object: KubernetesObject; source: Omit<Manifest['source'], 'file'> }[];
  readonly errors: readonly Omit<ManifestError, 'file'>[];
}

/** Reads all manifests of one file, and finds all mistakes. */
export function readFile(content: string, options: { validate: Validate; limits: ManifestLimits }): FileReading {
  const reader = new FileReader(options.validate, options.limits);
  reader.read(content);
  return reader;
}

/** An object of a document, and the steps to it: none, or those to an item of a list. */
interface PlacedObject {
  readonly value: unknown;
  readonly steps: readonly Step[];
}

class FileReader implements FileReading {
  readonly #validate: Validate;
  readonly #limits: ManifestLimits;
  readonly manifests: { object: KubernetesObject; source: Omit<Manifest['source'], 'file'> }[] = [];
  readonly errors: Omit<ManifestError, 'file'>[] = [];

  constructor(validate: Validate, limits: ManifestLimits) {
    this.#validate = validate;
    this.#limits = limits;
  }

  read(content: string): void {
    const { fileLength, documents: maxDocuments } = this.#limits;
    if (content.length > fileLength) return this.#refuseFile(`the file is longer than ${fileLength} characters`);
    const { documents, errors } = splitDocuments(content);
    if (documents.length > maxDocuments) return this.#refuseFile(`the file has more than ${maxDocuments} documents`);
    this.errors.push(...errors);
    for (const [index, document] of documents.entries()) this.#readDocument(document, index + 1);
  }

  #readDocument(document: SourceDocument, number: number): void {
    try {
      const parsed = parseDocument(document.text, this.#limits);
      const positions = new FieldPositions(parsed.events, document.text);
      for (const placed of objectsOf(parsed.value)) this.#readObject(placed, { document, positions, number });
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      this.errors.push({ ...document.positionOf(error.offset), message: error.message });
    }
  }

  #readObject({ value, steps }: PlacedObject, at: ReadDocument): void {
    const positionOf = (path: readonly Step[]): Place =>
      at.document.positionOf(at.positions.offsetOf([...steps, ...path]));
    const report = ({ path, message }: FieldMistake): void => {
      this.errors.push({ ...positionOf(parseFieldPath(path)), message: path === '' ? message : `${path}: ${message}` });
    };
    if (!isJsonObject(value)) return report({ path: '', message: 'this is not a Kubernetes object' });
    const mistakes = objectMistakes(value);
    mistakes.forEach(report);
    if (mistakes.length > 0) return;
    const object = withoutServerFields(value);
    this.#validate(object).forEach(report);
    this.manifests.push({ object, source: { ...positionOf([]), document: at.number } });
  }

  #refuseFile(message: string): void {
    this.errors.push({ line: 1, column: 1, message });
  }
}

type Place = Pick<SourcePosition, 'line' | 'column'>;

interface ReadDocument {
  readonly document: SourceDocument;
  readonly positions: FieldPositions;
  readonly number: number;
}

/** A `List` stands for its items, as for kubectl; lists in lists are not taken apart, and so are no objects. */
function objectsOf(value: unknown): readonly PlacedObject[] {
  if (value === null) return [];
  if (!isList(value)) return [{ value, steps: [] }];
  return value.items.map((item, index) => ({ value: isList(item) ? undefined : item, steps: ['items', index] }));
}

function isList(value: unknown): value is { readonly items: readonly unknown[] } {
  if (!isJsonObject(value)) return false;
  const { kind, items } = value;
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items);
}
