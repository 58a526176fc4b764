import { gvkOf, formatGvk, objectKey } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import type { FieldConflict } from '../kubernetes/index.ts';
import type { Decision } from './apply-decision.ts';
import { contentHash } from './canonical-json.ts';
import type { LeftField, TakenField } from './leaf-verdict.ts';
import { decisiveDigest, ownershipDigest } from './live-digest.ts';

/** Objects that are remembered at most; the one that was looked at longest ago goes first, and is then as on a cold start. */
const CAPACITY = 50_000;

/** How often a field is given its value back while somebody gives it the same other one: programs, people. */
const PROGRAM_ROUNDS = 2;
const PERSON_ROUNDS = 3;
/** A change that comes later than this after our last one has not been provoked by it. */
const ROUND_WINDOW = 10 * 60_000;

/** What most objects have: nothing, which they share. */
const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();
const NONE: ReadonlySet<string> = new Set();

/** How a field goes back and forth. */
interface Round {
  readonly value: string;
  readonly count: number;
  readonly limit: number;
  readonly at: number;
}

/** What became of a desired state that an API server refused. */
interface Refusal {
  readonly digest: string;
  readonly error: Error;
  readonly until: number;
}

/** What an object looked like when nothing was to be done. */
interface Settled {
  readonly digest: string;
  readonly findings: Pick<Decision, 'left' | 'rewritten'>;
}

/** What a memory is given. */
export interface ApplyMemoryOptions {
  /** Milliseconds, from an arbitrary start. */
  readonly now: () => number;
  /** Called when an API server refused an apply because others hold fields. */
  readonly onConflict: () => void;
}

/** For a single look: nothing lasts. */
export const FIRST_LOOK: ApplyMemoryOptions = { now: () => 0, onConflict: () => undefined };

/** What is remembered about one object, for one desired state of it. Forgotten, it costs a look; never correctness. */
export class ObjectMemory {
  readonly #options: ApplyMemoryOptions;
  #uid: string | undefined;
  #state = '';
  #known = false;
  #written = false;
  #settled: Settled | undefined;
  #refusal: Refusal | undefined;
  #conflicts: { readonly digest: string; readonly conflicts: readonly FieldConflict[] } | undefined;
  #left: ReadonlySet<string> = NONE;
  #usual: ReadonlyMap<string, string> = NOTHING;
  #rounds: ReadonlyMap<string, Round> = NOTHING;

  constructor(options: ApplyMemoryOptions) {
    this.#options = options;
  }

  /** Turns to an object and a desired state of it; another object or another state begins with nothing known. */
  turnTo(uid: string | undefined, state: string): void {
    if (this.#uid !== uid) {
      this.#written = false;
      this.#left = NONE;
    }
    if (this.#uid === uid && this.#state === state) return;
    this.#uid = uid;
    this.#state = state;
    this.#known = false;
    this.#settled = undefined;
    this.#refusal = undefined;
    this.#conflicts = undefined;
    this.#usual = NOTHING;
    this.#rounds = NOTHING;
  }

  /** Whether nothing has been written to this object since this memory began: what is known of it may be a predecessor's. */
  get isFirstWrite(): boolean {
    return !this.#written;
  }

  /** What was found when the object looked the same in everything that counts, and nothing was to be done. */
  settled(live: KubernetesObject, fieldManager: string): Settled['findings'] | undefined {
    if (this.#settled === undefined) return undefined;
    return this.#settled.digest === ownershipDigest(live, fieldManager) ? this.#settled.findings : undefined;
  }

  /** Nothing is to be done about this object as it is. */
  settle(live: KubernetesObject, fieldManager: string, findings: Settled['findings']): void {
    if (!this.#known) this.#keepAsUsual(findings.rewritten);
    this.#known = true;
    const { left, rewritten } = findings;
    // Whether a field still goes back and forth is told by a value that is not ours, and not in the digest.
    const isFlipping = left.some(({ why }) => why === 'flipping');
    const digest = isFlipping ? '' : ownershipDigest(live, fieldManager);
    this.#settled = { digest, findings: { left, rewritten } };
  }

  /** @returns the fields that were not left before */
  noteLeft(left: readonly LeftField[]): readonly LeftField[] {
    const before = this.#left;
    this.#left = left.length === 0 ? NONE : new Set(left.map(({ path, manager, why }) => `${path} ${manager} ${why}`));
    return left.filter(({ path, manager, why }) => !before.has(`${path} ${manager} ${why}`));
  }

  /** An apply was taken. @param unsettled what it did not bring about: applying it again would not either */
  applied(taken: readonly TakenField[], unsettled: readonly TakenField[]): void {
    this.#written = true;
    this.#known = true;
    this.#settled = undefined;
    this.#refusal = undefined;
    this.#usual = NOTHING;
    this.#keepAsUsual(unsettled);
    for (const field of taken) this.#countRound(field);
  }

  /**
   * A field that comes out so whenever it is applied is not applied for. On the first look at an object, a field of ours
   * with another value is taken for such a one: nobody knows when it got that value.
   */
  readonly isUsual = ({ path, live, why }: TakenField): boolean => {
    if (why !== 'rewritten' && why !== 'removed') return false;
    return (why === 'rewritten' && !this.#known) || this.#usual.get(path) === contentHash(live);
  };

  /** Whether somebody has given a field this value as often as we took it back. */
  readonly isFlipping = (path: string, live: unknown): boolean => {
    const round = this.#rounds.get(path);
    return round !== undefined && round.count >= round.limit && round.value === contentHash(live);
  };

  #countRound({ path, live, why }: TakenField): void {
    const value = contentHash(live);
    const before = this.#rounds.get(path);
    const at = this.#options.now();
    const again = before?.value === value && at - before.at <= ROUND_WINDOW;
    const limit = why === 'drift' ? PERSON_ROUNDS : PROGRAM_ROUNDS;
    const count = again ? before.count + 1 : 1;
    this.#rounds = new Map([...this.#rounds, [path, { value, count, limit, at }]]);
  }

  #keepAsUsual(fields: readonly TakenField[]): void {
    if (fields.length === 0) return;
    const kept = fields.map(({ path, live }): [string, string] => [path, contentHash(live)]);
    this.#usual = new Map([...this.#usual, ...kept]);
  }

  /** The server refused this state for good: it would do so again as long as nothing that counts changes. */
  refused(live: KubernetesObject | undefined, error: Error, lasts: number): void {
    this.#refusal = { digest: decisiveDigest(live), error, until: this.#options.now() + lasts };
  }

  /** The refusal that would come again. */
  refusalOf(live: KubernetesObject | undefined): Error | undefined {
    if (this.#refusal === undefined || this.#options.now() >= this.#refusal.until) return undefined;
    return this.#refusal.digest === decisiveDigest(live) ? this.#refusal.error : undefined;
  }

  /** The server told of conflicts that the object itself does not show. */
  noteConflicts(live: KubernetesObject, conflicts: readonly FieldConflict[]): void {
    this.#conflicts = { digest: decisiveDigest(live), conflicts };
    this.#options.onConflict();
  }

  /** The conflicts that a server told of, as long as nobody has written since. */
  conflictsOf(live: KubernetesObject): readonly FieldConflict[] {
    return this.#conflicts?.digest === decisiveDigest(live) ? this.#conflicts.conflicts : [];
  }
}

/** What a writer remembers about the objects it writes, by their names. */
export class ApplyMemory {
  readonly #options: ApplyMemoryOptions;
  readonly #objects = new Map<string, ObjectMemory>();

  constructor(options: ApplyMemoryOptions) {
    this.#options = options;
  }

  of(object: KubernetesObject): ObjectMemory {
    const key = `${formatGvk(gvkOf(object))} ${objectKey(object)}`;
    const memory = this.#objects.get(key) ?? new ObjectMemory(this.#options);
    this.#objects.delete(key);
    this.#objects.set(key, memory);
    const oldest = this.#objects.keys().next();
    if (this.#objects.size > CAPACITY && oldest.done === false) this.#objects.delete(oldest.value);
    return memory;
  }
}
