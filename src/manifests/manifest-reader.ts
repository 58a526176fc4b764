import { gvkOf, type KubernetesObject, type Snapshot, type SnapshotFile } from '../kernel/index.ts';
import { readFile, type FileReading, type Validate } from './file-reader.ts';
import { foreignFolders, isWithin, manifestFilter } from './manifest-files.ts';
import { defaultManifestLimits, type ManifestLimits } from './manifest-limits.ts';
import type { Manifest, ManifestError, ManifestReading } from './manifest.ts';

/** Characters of files whose objects are kept: as objects, they take some ten times as much. */
const KEPT_LENGTH = 16 * 1024 * 1024;

/** What holds for everything that a {@link ManifestReader} reads. */
export interface ManifestReaderOptions {
  readonly validate: Validate;
  readonly limits?: Partial<ManifestLimits> | undefined;
}

/** What may differ from one reading to the next. */
export interface ReadingOptions {
  /** Where an object without a namespace goes; used only to notice that an object is written twice. */
  readonly defaultNamespace: string;
}

/** Reads the manifests of snapshots, and keeps what it made of each file: a commit costs the files that it changes. */
export class ManifestReader {
  readonly #validate: Validate;
  readonly #limits: ManifestLimits;
  /** By the blob's name, so by content. */
  readonly #readings = new Map<string, { reading: FileReading; length: number }>();
  #length = 0;

  constructor({ validate, limits }: ManifestReaderOptions) {
    this.#validate = validate;
    this.#limits = { ...defaultManifestLimits, ...limits };
  }

  /** Every manifest of the snapshot; or every mistake, in the order of the files. */
  read(snapshot: Snapshot, { defaultNamespace }: ReadingOptions): ManifestReading {
    const files = snapshot.files.filter(({ path }) => manifestFilter.file(path));
    const foreign = foreignFolders(files.map(({ path }) => path));
    const errors: ManifestError[] = [...foreign.values()];
    const manifests: Manifest[] = [];
    for (const file of files.filter(({ path }) => !isWithin(path, foreign))) {
      const reading = this.#readFile(file);
      errors.push(...reading.errors.map((error) => ({ file: file.path, ...error })));
      for (const { object, source } of reading.manifests) {
        manifests.push({ object, source: { file: file.path, ...source } });
      }
    }
    errors.push(...duplicates(manifests, defaultNamespace));
    return errors.length === 0 ? { manifests } : { errors: this.#firstErrors(errors) };
  }

  #readFile({ oid, content }: SnapshotFile): FileReading {
    const kept = this.#readings.get(oid);
    const reading = kept?.reading ?? readFile(content, { validate: this.#validate, limits: this.#limits });
    // Put at the end: a Map iterates in the order of insertion, so what is at the front was not read for longest.
    this.#readings.delete(oid);
    this.#readings.set(oid, { reading, length: content.length });
    if (kept === undefined) this.#makeRoom(content.length);
    return reading;
  }

  #makeRoom(added: number): void {
    this.#length += added;
    for (const [oid, { length }] of this.#readings) {
      if (this.#length <= KEPT_LENGTH) return;
      this.#readings.delete(oid);
      this.#length -= length;
    }
  }

  #firstErrors(errors: readonly ManifestError[]): ManifestError[] {
    const shown = errors.slice(0, this.#limits.errors);
    const next = errors[shown.length];
    if (next === undefined) return shown;
    return [...shown, { ...next, message: `${next.message} (and ${errors.length - shown.length - 1} more mistakes)` }];
  }
}

/** An object that is written twice has no wanted state: which one would win is chance. */
function* duplicates(manifests: readonly Manifest[], defaultNamespace: string): Generator<ManifestError> {
  const first = new Map<string, Manifest>();
  for (const manifest of manifests) {
    const identity = identityOf(manifest.object, defaultNamespace);
    const other = first.get(identity);
    if (other === undefined) {
      first.set(identity, manifest);
      continue;
    }
    const { file, line, column } = manifest.source;
    const place = `${other.source.file}:${other.source.line}:${other.source.column}`;
    yield {
      file,
      line,
      column,
      message: `${manifest.object.kind} ${manifest.object.metadata.name} is also at ${place}`,
    };
  }
}

/** The version is not part of it: one object can be written in several. */
function identityOf(object: KubernetesObject, defaultNamespace: string): string {
  const { group, kind } = gvkOf(object);
  const { namespace = defaultNamespace, name } = object.metadata;
  return JSON.stringify([group, kind, namespace, name]);
}
