/** One output of the project that is made from its code. */
export interface Generator {
  /** Globs, from the project's root, of every file that this generator owns: what it does not make there is stale. */
  readonly owns: readonly string[];
  /** The files by path from the project's root; the same content for the same code, byte for byte. */
  files(): ReadonlyMap<string, string>;
}
