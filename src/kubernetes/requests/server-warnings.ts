import type { Logger } from '../../kernel/index.ts';
import type { ClientMetrics } from './client-metrics.ts';

/** Texts that are remembered as logged. A server that varies its texts is logged this often, then no more. */
const MAX_TEXTS = 256;
const MAX_LENGTH = 512;

/**
 * What an API server remarks in `Warning` headers (RFC 9110: `299 - "text"`): counted each time, logged once per text, as
 * kubectl shows it. Remarks about Secrets are counted only, because they may quote what is in them.
 */
export class ServerWarnings {
  readonly #logger: Logger;
  readonly #metrics: ClientMetrics;
  readonly #logged = new Set<string>();

  constructor(logger: Logger, metrics: ClientMetrics) {
    this.#logger = logger;
    this.#metrics = metrics;
  }

  note(path: string, warning: string | undefined): void {
    if (warning === undefined) return;
    this.#metrics.warned();
    const text = warning.slice(0, MAX_LENGTH);
    if (isOfSecrets(path) || this.#logged.size >= MAX_TEXTS || this.#logged.has(text)) return;
    this.#logged.add(text);
    this.#logger.warn('API server warns', { path, warning: text });
  }
}

function isOfSecrets(path: string): boolean {
  return /^\/api\/v1\/(namespaces\/[^/]+\/)?secrets(\/|$)/.test(path);
}
