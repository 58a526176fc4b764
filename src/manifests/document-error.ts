import { AtollError } from '../kernel/index.ts';

/** A document cannot be read; `offset` is where in its text. */
export class DocumentError extends AtollError {
  override name = 'DocumentError';
  readonly offset: number;

  constructor(message: string, offset: number, options?: ErrorOptions) {
    super(message, options);
    this.offset = offset;
  }
}
