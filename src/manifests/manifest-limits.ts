/** How much one file may ask of the parser before it is refused. */
export interface ManifestLimits {
  /** Characters of a file. */
  readonly fileLength: number;
  /** Documents of a file. */
  readonly documents: number;
  /** Collections within one another. */
  readonly depth: number;
  /** Values of a document, aliases expanded. */
  readonly nodes: number;
  /** Uses of anchors in a document. */
  readonly aliases: number;
  /** Errors that are reported of one revision; the rest is counted. */
  readonly errors: number;
}

/** A hand-written manifest has some hundred nodes, a large CRD 20,000; etcd takes 1.5 MiB an object. */
export const defaultManifestLimits: ManifestLimits = {
  fileLength: 3 * 1024 * 1024,
  documents: 1000,
  depth: 100,
  nodes: 200_000,
  aliases: 1000,
  errors: 50,
};
