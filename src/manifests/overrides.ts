import { TerminalError, type KubernetesObject } from '../kernel/index.ts';

/** One operation of RFC 6902. `value` belongs to add, replace and test, `from` to move and copy. */
export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string | undefined;
  readonly value?: unknown;
}

/** A named patch of the whole object. */
export interface ObjectOverride {
  readonly name: string;
  readonly patches: readonly JsonPatchOperation[];
}

/** An override does not fit the object. The message names the override, the operation's index and the path. */
export class OverrideError extends TerminalError {
  override name = 'OverrideError';
  readonly override: string;
  readonly operation: number;
  readonly path: string;

  constructor(place: { override: string; operation: number; path: string }, message: string) {
    super(
      `override ${JSON.stringify(place.override)}, operation ${place.operation}, ${JSON.stringify(place.path)}: ${message}`,
    );
    this.override = place.override;
    this.operation = place.operation;
    this.path = place.path;
  }
}

/** The object with all overrides applied in order; the object itself stays as it is. @throws OverrideError */
export function applyOverrides(object: KubernetesObject, overrides: readonly ObjectOverride[]): KubernetesObject {
  const [first] = overrides;
  if (first === undefined) return object;
  throw new OverrideError({ override: first.name, operation: 0, path: '' }, 'cannot be applied');
}
