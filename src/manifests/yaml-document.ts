import { constructFromEvents, parseEvents, YAMLException, type Event } from 'js-yaml';

import type { Json } from '../kernel/index.ts';
import { DocumentError } from './document-error.ts';
import { checkEvents } from './event-check.ts';
import { kubernetesSchema } from './kubernetes-schema.ts';
import type { ManifestLimits } from './manifest-limits.ts';

/** Controls that no YAML may hold, and characters that YAML 1.1 takes for line breaks and YAML 1.2 does not. */
const REFUSED = /(?![\t\n\r])\p{Cc}|[\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}/u;
const TEMPLATE = /\{\{[^}\n]*\}\}/;

/** A document, and the events that say where its fields are. */
export interface YamlDocument {
  readonly value: Json;
  readonly events: readonly Event[];
}

/** Reads one document of YAML or JSON. @throws DocumentError; the message never repeats what the document holds */
export function parseDocument(text: string, limits: ManifestLimits): YamlDocument {
  const refused = text.search(REFUSED);
  if (refused >= 0) {
    const code = text.codePointAt(refused)?.toString(16).toUpperCase().padStart(4, '0');
    throw new DocumentError(`the character U+${code} is not allowed; write it as an escape in double quotes`, refused);
  }
  try {
    const events = parseEvents(text, { maxDepth: 2 * limits.depth });
    checkEvents(events, text, limits);
    const options = { source: text, schema: kubernetesSchema, maxAliases: limits.aliases };
    const [value] = constructFromEvents(events, options);
    return { value: (value ?? null) as Json, events };
  } catch (error) {
    if (error instanceof YAMLException) throw syntaxError(error, text);
    throw error;
  }
}

function syntaxError(error: YAMLException, text: string): DocumentError {
  const hint = TEMPLATE.test(text) ? '; it looks like a template, which must be rendered before it is committed' : '';
  // The exception's own message, and so the cause, would show lines of the document.
  return new DocumentError(`${error.reason}${hint}`, error.mark?.position ?? 0);
}
