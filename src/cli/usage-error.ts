import { AtollError } from '../kernel/index.ts';

/** A command was called wrongly: nothing was done. */
export class UsageError extends AtollError {
  override name = 'UsageError';
}
