import type { KubernetesObject } from '../kernel/index.ts';

/** Where a manifest or a mistake stands; lines and columns count from 1. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One object of a revision, and where it was written. */
export interface Manifest {
  /** As written, without what only a server sets (status, uid, resourceVersion, managedFields …). */
  readonly object: KubernetesObject;
  readonly source: SourcePosition & {
    /** Which document of the file, from 1; empty documents count too. */
    readonly document: number;
  };
}

/** Why a revision cannot be applied, at the place to look at. */
export interface ManifestError extends SourcePosition {
  readonly message: string;
}

/** All manifests of a revision, or all that is wrong with it: never some of both. */
export type ManifestReading = { readonly manifests: Manifest[] } | { readonly errors: ManifestError[] };
