/** Kinds of the core group that more than one room reads or writes. */
export const CORE = {
  ConfigMap: { group: '', version: 'v1', kind: 'ConfigMap' },
  Namespace: { group: '', version: 'v1', kind: 'Namespace' },
  Secret: { group: '', version: 'v1', kind: 'Secret' },
} as const;
