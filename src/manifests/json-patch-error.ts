import { AtollError } from '../kernel/index.ts';

/** An operation does not fit the document. The message names places, never values: those may be secret. */
export class JsonPatchError extends AtollError {
  override name = 'JsonPatchError';
}
