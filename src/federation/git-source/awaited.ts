import {
  KindNotFoundError,
  NamespaceTerminatingError,
  NotFoundError,
  WebhookUnavailableError,
} from '../../kubernetes/index.ts';

const SECOND = 1000;

/** Something that an object needs and that is not there yet. */
export interface Awaited {
  /** For a condition. */
  readonly reason: string;
  /** Milliseconds after which it may be there without anything telling so. */
  readonly retryAfter: number;
}

/** What is awaited when a write fails so; undefined when the failure is another one. The rest of a revision goes on. */
export function awaitedBy(error: unknown): Awaited | undefined {
  if (error instanceof KindNotFoundError) return { reason: 'KindNotFound', retryAfter: 5 * SECOND };
  if (error instanceof NamespaceTerminatingError) return { reason: 'NamespaceTerminating', retryAfter: 5 * SECOND };
  if (error instanceof WebhookUnavailableError) return { reason: 'WebhookUnavailable', retryAfter: 5 * SECOND };
  const isNamespace = error instanceof NotFoundError && error.details.kind === 'namespaces';
  return isNamespace ? { reason: 'NamespaceNotFound', retryAfter: 30 * SECOND } : undefined;
}

/** An object that has to wait, and why in words. */
export type Wait = Awaited & { readonly text: string };
