import { AtollError } from '../kernel/index.ts';
import type { Connection } from './connection.ts';

/** A kubeconfig that is not accepted; the message and {@link field} name what is wrong, never its value. */
export class KubeconfigError extends AtollError {
  override name = 'KubeconfigError';
  /** Path of the field, like `users[admin].user.exec`. */
  readonly field: string;

  constructor(field: string, problem: string, options: ErrorOptions = {}) {
    super(`kubeconfig: ${field}: ${problem}`, options);
    this.field = field;
  }
}

/** Reads the connection of the current context. @throws KubeconfigError */
export function parseKubeconfig(text: string): Connection {
  throw new Error(`not written yet ${text.length}`);
}
