/** One file of a revision. `path` is relative to the repository's root, with forward slashes. */
export interface SnapshotFile {
  readonly path: string;
  /** The blob's object id: equal ids mean equal content. */
  readonly oid: string;
  readonly content: string;
}

/** One commit, read whole: every file below the asked path is in it, or there is no snapshot. */
export interface Snapshot {
  /** "main@sha1:<40 hex>": Flux's form of a revision. */
  readonly revision: string;
  readonly files: readonly SnapshotFile[];
}
