const MEBIBYTE = 1024 * 1024;

/** How much of a repository is taken in before it is refused with `LimitExceeded`. Sizes in bytes, times in milliseconds. */
export interface GitLimits {
  /** What one request may send us. */
  readonly wireBytes: number;
  /** All objects of a fetch together, inflated. */
  readonly inflatedBytes: number;
  /** One object, inflated. */
  readonly objectBytes: number;
  /** Objects in a fetch; a snapshot without history has about as many as it has files. */
  readonly objects: number;
  /** Files below the path that can hold manifests. */
  readonly files: number;
  /** One file that can hold manifests. etcd takes 1.5 MiB an object. */
  readonly fileBytes: number;
  /** All those files together. */
  readonly totalFileBytes: number;
  /** Folders below one another. */
  readonly depth: number;
  /** Silence on a connection, until which the server counts as stalled. */
  readonly idleTimeout: number;
  /** Packs in a kept clone, after which it is cloned afresh: each read opens all of them. */
  readonly packs: number;
}

/** Good for GitOps repositories of up to some 20,000 files and 64 MiB a snapshot. */
export const defaultGitLimits: GitLimits = {
  wireBytes: 64 * MEBIBYTE,
  inflatedBytes: 256 * MEBIBYTE,
  objectBytes: 4 * MEBIBYTE,
  objects: 200_000,
  files: 20_000,
  fileBytes: 3 * MEBIBYTE,
  totalFileBytes: 64 * MEBIBYTE,
  depth: 50,
  idleTimeout: 15_000,
  packs: 50,
};
