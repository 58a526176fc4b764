import { EVENT_ID, getScalarValue, SCALAR_STYLE, type Event } from 'js-yaml';

/** A step into a document: a field's name or an item's index. */
export type Step = string | number;

/** A node: where it begins (a field, with its name) and what is in it. */
interface Place {
  readonly offset: number;
  readonly children: Map<Step, Place>;
}

interface Frame {
  readonly place: Place;
  readonly isMapping: boolean;
  /** The name of the field that is next, between key and value. */
  key: { readonly name: string; readonly offset: number } | undefined;
}

const STEP = /\.?([^.[\]]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gy;
const QUOTED: readonly number[] = [SCALAR_STYLE.SINGLE_QUOTED, SCALAR_STYLE.DOUBLE_QUOTED];

/** Reads a path such as `metadata.labels["example.com/team"]` or `spec.overrides[0].name`. */
export function parseFieldPath(path: string): readonly Step[] {
  return Array.from(path.matchAll(STEP), ([, name, index, quoted]) => {
    if (index !== undefined) return Number(index);
    return name ?? String(JSON.parse(quoted ?? '""'));
  });
}

/** Where an event stands in the text. */
export function eventOffset(event: Event): number {
  if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) return event.start;
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  if (event.type !== EVENT_ID.SCALAR) return 0;
  if (event.tagStart >= 0) return event.tagStart;
  if (event.anchorStart >= 0) return event.anchorStart - 1;
  return Math.max(event.valueStart - (QUOTED.includes(event.style) ? 1 : 0), 0);
}

/** Finds fields of a document in its text. */
export class FieldPositions {
  readonly #events: readonly Event[];
  readonly #source: string;
  #root: Place | undefined;

  constructor(events: readonly Event[], source: string) {
    this.#events = events;
    this.#source = source;
  }

  /** Where the field is, or the deepest that is there of those around it. */
  offsetOf(path: readonly Step[]): number {
    // The first event is the document's own.
    const content = this.#events[1];
    if (path.length === 0) return content === undefined ? 0 : eventOffset(content);
    this.#root ??= this.#build();
    let place = this.#root;
    for (const step of path) {
      const child = place.children.get(step);
      if (child === undefined) break;
      place = child;
    }
    return place.offset;
  }

  #build(): Place {
    const document: Place = { offset: 0, children: new Map() };
    const frames: Frame[] = [{ place: document, isMapping: false, key: undefined }];
    for (const event of this.#events.slice(1)) {
      const frame = frames.at(-1);
      if (event.type === EVENT_ID.POP || frame === undefined) {
        frames.pop();
        continue;
      }
      const place = this.#place(event, frame);
      const isMapping = event.type === EVENT_ID.MAPPING;
      if (place !== undefined && (isMapping || event.type === EVENT_ID.SEQUENCE)) {
        frames.push({ place, isMapping, key: undefined });
      }
    }
    return document.children.get(0) ?? document;
  }

  /** The place of a value; a key has none, it names the next. */
  #place(event: Event, frame: Frame): Place | undefined {
    const { place, isMapping, key } = frame;
    const offset = eventOffset(event);
    if (isMapping && key === undefined) {
      frame.key = { name: event.type === EVENT_ID.SCALAR ? getScalarValue(this.#source, event) : '', offset };
      return undefined;
    }
    const child: Place = { offset: key?.offset ?? offset, children: new Map() };
    place.children.set(key?.name ?? place.children.size, child);
    frame.key = undefined;
    return child;
  }
}
