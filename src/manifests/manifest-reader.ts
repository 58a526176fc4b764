import type { KubernetesObject, Snapshot } from '../kernel/index.ts';
import type { ManifestLimits } from './manifest-limits.ts';
import type { ManifestReading } from './manifest.ts';

/** Says what is wrong with an object: paths as in `spec.template.spec["a.b"].list[0]`, see `api`'s `validateObject`. */
export type Validate = (object: KubernetesObject) => readonly { readonly path: string; readonly message: string }[];

/** What holds for a whole {@link ManifestReader}: parsed files are kept under it. */
export interface ManifestReaderOptions {
  readonly validate: Validate;
  readonly limits?: Partial<ManifestLimits> | undefined;
}

/** What may differ from one reading to the next. */
export interface ReadingOptions {
  /** What an object without a namespace will be put into; only used to notice the same object written twice. */
  readonly defaultNamespace: string;
}

/** Reads the manifests of snapshots and keeps what it parsed, so that a commit costs only the files it changed. */
export class ManifestReader {
  readonly #options: ManifestReaderOptions;

  constructor(options: ManifestReaderOptions) {
    this.#options = options;
  }

  /** Every manifest of the snapshot, or every mistake in it. */
  read(snapshot: Snapshot, options: ReadingOptions): ManifestReading {
    return {
      errors: [
        { file: snapshot.revision, line: 1, column: 1, message: `${Object.keys({ ...this.#options, ...options })}` },
      ],
    };
  }
}

/** Reads the manifests of one snapshot; {@link ManifestReader} for someone who reads once. */
export function readManifests(snapshot: Snapshot, options: ManifestReaderOptions & ReadingOptions): ManifestReading {
  return new ManifestReader(options).read(snapshot, options);
}
