import { TerminalError } from '../kernel/index.ts';

/** A request that was refused here, before anything was sent, because sending it would do something else than asked. */
export class UnsendableError extends TerminalError {
  override name = 'UnsendableError';
}
