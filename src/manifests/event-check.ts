import { EVENT_ID, getScalarValue, SCALAR_STYLE, type Event, type ScalarEvent } from 'js-yaml';

import { DocumentError } from './document-error.ts';
import { eventOffset } from './field-positions.ts';
import { isFloat } from './kubernetes-schema.ts';
import type { ManifestLimits } from './manifest-limits.ts';

const NOT_A_NUMBER = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** How large a node is, with all aliases in it expanded. */
interface Extent {
  readonly nodes: number;
  readonly depth: number;
}

interface Frame {
  readonly kind: 'document' | 'sequence' | 'mapping';
  readonly anchor: string | undefined;
  nodes: number;
  depth: number;
  /** How many children it has so far; those of a mapping are keys and values in turn. */
  children: number;
}

/**
 * Looks through the events of one document before anything is made of them: a few lines of YAML can stand for millions of
 * values, or for none that JSON can hold.
 *
 * @throws DocumentError
 */
export function checkEvents(events: readonly Event[], source: string, limits: ManifestLimits): void {
  const check = new EventCheck(source, limits);
  for (const event of events) check.visit(event);
}

class EventCheck {
  readonly #source: string;
  readonly #limits: ManifestLimits;
  readonly #frames: Frame[] = [];
  readonly #anchors = new Map<string, Extent | 'open'>();
  #documents = 0;
  #offset = 0;

  constructor(source: string, limits: ManifestLimits) {
    this.#source = source;
    this.#limits = limits;
  }

  visit(event: Event): void {
    if (event.type !== EVENT_ID.POP) this.#offset = eventOffset(event);
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        this.#documents += 1;
        if (this.#documents > 1) this.#refuse('nothing may follow the end mark "..."; kubectl would leave it out');
        this.#open('document', undefined);
        break;
      case EVENT_ID.SEQUENCE:
        this.#open('sequence', this.#anchorOf(event));
        break;
      case EVENT_ID.MAPPING:
        this.#open('mapping', this.#anchorOf(event));
        break;
      case EVENT_ID.SCALAR:
        this.#scalar(event);
        break;
      case EVENT_ID.ALIAS:
        this.#add(this.#extentOf(this.#source.slice(event.anchorStart, event.anchorEnd)));
        break;
      case EVENT_ID.POP:
        this.#close();
        break;
    }
  }

  #open(kind: Frame['kind'], anchor: string | undefined): void {
    if (anchor !== undefined) this.#anchors.set(anchor, 'open');
    this.#frames.push({ kind, anchor, nodes: 1, depth: 1, children: 0 });
  }

  #close(): void {
    const frame = this.#frames.pop();
    if (frame === undefined) return;
    if (frame.anchor !== undefined) this.#anchors.set(frame.anchor, { nodes: frame.nodes, depth: frame.depth });
    this.#add(frame);
  }

  /** A node is complete: it counts for the collection that it is in. */
  #add({ nodes, depth }: Extent): void {
    const parent = this.#frames.at(-1);
    if (parent === undefined) return;
    parent.children += 1;
    parent.nodes += nodes;
    parent.depth = Math.max(parent.depth, depth + 1);
    const { nodes: maxNodes, depth: maxDepth } = this.#limits;
    if (parent.nodes > maxNodes) this.#refuse(`the document has more than ${maxNodes} values, aliases expanded`);
    if (parent.depth > maxDepth + 2) this.#refuse(`the document is nested more than ${maxDepth} levels deep`);
  }

  #scalar(event: ScalarEvent): void {
    const anchor = this.#anchorOf(event);
    if (anchor !== undefined) this.#anchors.set(anchor, { nodes: 1, depth: 1 });
    const isBare = event.style === SCALAR_STYLE.PLAIN && event.tagStart < 0 && event.valueStart >= 0;
    if (isBare) this.#plainScalar(getScalarValue(this.#source, event));
    this.#add({ nodes: 1, depth: 1 });
  }

  #plainScalar(text: string): void {
    if (NOT_A_NUMBER.test(text)) this.#refuse(`${text} is not a number in JSON; quote it if it is text`);
    const parent = this.#frames.at(-1);
    if (parent?.kind !== 'mapping' || parent.children % 2 !== 0) return;
    if (isFloat(text)) this.#refuse(`quote the key ${text}: it would become a number, and then another text`);
    if (text === '<<' && parent.children > 0) {
      this.#refuse('write << before all other keys: for kubectl, whatever comes last wins');
    }
  }

  #extentOf(anchor: string): Extent {
    const extent = this.#anchors.get(anchor);
    if (extent === undefined) return this.#refuse(`there is no anchor &${anchor}`);
    if (extent === 'open') return this.#refuse(`the anchor &${anchor} contains itself`);
    return extent;
  }

  #anchorOf({ anchorStart, anchorEnd }: { anchorStart: number; anchorEnd: number }): string | undefined {
    return anchorStart < 0 ? undefined : this.#source.slice(anchorStart, anchorEnd);
  }

  #refuse(message: string): never {
    throw new DocumentError(message, this.#offset);
  }
}
