import { TerminalError, type Json, type KubernetesObject } from '../kernel/index.ts';
import { applyOperation, type JsonPatchOperation } from './json-patch.ts';
import { JsonPatchError } from './json-patch-error.ts';

/** A named patch of the whole object. */
export interface ObjectOverride {
  readonly name: string;
  readonly patches: readonly JsonPatchOperation[];
}

/** An override does not fit the object: the message names the override, which of its operations, and the path. */
export class OverrideError extends TerminalError {
  override name = 'OverrideError';
  readonly override: string;
  readonly operation: number;
  readonly path: string;

  constructor(
    place: { readonly override: string; readonly operation: number; readonly path: string },
    message: string,
    options?: ErrorOptions,
  ) {
    const { override, operation, path } = place;
    super(
      `override ${JSON.stringify(override)}, operation ${operation}, path ${JSON.stringify(path)}: ${message}`,
      options,
    );
    this.override = override;
    this.operation = operation;
    this.path = path;
  }
}

/**
 * The object with all overrides applied, in order (RFC 6902). The object itself stays as it is; what did not change is
 * shared with it.
 *
 * @throws OverrideError
 */
export function applyOverrides(object: KubernetesObject, overrides: readonly ObjectOverride[]): KubernetesObject {
  let result = object as unknown as Json;
  for (const { name, patches } of overrides) {
    for (const [operation, patch] of patches.entries()) {
      result = applyPatch(result, patch, { override: name, operation, path: patch.path });
    }
  }
  return result as unknown as KubernetesObject;
}

function applyPatch(
  object: Json,
  patch: JsonPatchOperation,
  place: ConstructorParameters<typeof OverrideError>[0],
): Json {
  try {
    const result = applyOperation(object, patch);
    if (typeof result === 'object' && result !== null && !Array.isArray(result)) return result;
    throw new JsonPatchError('what is left is not an object');
  } catch (error) {
    if (error instanceof JsonPatchError) throw new OverrideError(place, error.message, { cause: error });
    throw error;
  }
}
