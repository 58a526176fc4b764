import type { ApplyOutcome } from '../apply/index.ts';
import { errorMessage, TerminalError, WaitingError } from '../kernel/index.ts';
import {
  BadRequestError,
  ForbiddenError,
  InvalidError,
  NamespaceTerminatingError,
  UnknownFieldError,
  UnsendableError,
} from '../kubernetes/index.ts';
import type { Problem } from './workload.ts';

/** What kept a child from being applied, and the error behind it, if any. */
interface Finding {
  /** What the status says; undefined for what passes by itself and is not worth a condition. */
  readonly problem: Problem | undefined;
  readonly error: Error | undefined;
}

/** Errors by which the API server, or we for it, refuses an object for good. */
const REFUSALS = [InvalidError, UnknownFieldError, BadRequestError, UnsendableError];

/** Collects what one run met, so that one child's trouble does not keep the others from being applied. */
export class Findings {
  readonly #all: Finding[] = [];

  /**
   * Runs one step and keeps the error that concerns this step only.
   * @throws whatever concerns the whole run: lost leases, unreachable or throttling servers, outdated caches
   */
  async collect<T>(step: () => Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      const finding = findingOf(error);
      if (finding === undefined) throw error;
      this.#all.push(finding);
      return undefined;
    }
  }

  /** Notes that a child is not ours, or not wholly. */
  addOutcome(outcome: Extract<ApplyOutcome, { result: 'foreign' | 'conflict' }>): void {
    const reason = outcome.result === 'foreign' ? 'NameTaken' : 'FieldsHeld';
    this.#all.push({ problem: { reason, message: outcome.message, permanent: false }, error: undefined });
  }

  isClean(): boolean {
    return this.#all.length === 0;
  }

  /** Permanent ones first; otherwise in the order of the children. */
  problems(): readonly Problem[] {
    return this.#all
      .flatMap(({ problem }) => problem ?? [])
      .toSorted((a, b) => Number(b.permanent) - Number(a.permanent));
  }

  /** Ends the run the way its worst finding asks for: waiting for a change, or being tried again. */
  throwWorst(): void {
    const refused = this.#all.find(({ problem }) => problem?.permanent === true);
    if (refused !== undefined) throw new TerminalError(refused.problem?.message, { cause: refused.error });
    const failed = this.#all.find(({ error }) => error !== undefined);
    if (failed?.error !== undefined) throw failed.error;
  }
}

function findingOf(error: unknown): Finding | undefined {
  if (!(error instanceof Error)) return undefined;
  if (isPassing(error)) return { problem: undefined, error: asWaiting(error) };
  if (error instanceof ForbiddenError) return { problem: problemOf('Forbidden', error, false), error };
  if (REFUSALS.some((refusal) => error instanceof refusal)) {
    return { problem: problemOf('Invalid', error, true), error };
  }
  return undefined;
}

/** What passes by itself: states between two states, and the children of a predecessor that is being collected. */
function isPassing(error: Error): boolean {
  if (error instanceof WaitingError || error instanceof NamespaceTerminatingError) return true;
  return error instanceof InvalidError && error.fields.some(({ path }) => path.startsWith('metadata.ownerReferences'));
}

function asWaiting(error: Error): WaitingError {
  return error instanceof WaitingError ? error : new WaitingError(error.message, { cause: error });
}

function problemOf(reason: string, error: Error, permanent: boolean): Problem {
  return { reason, message: errorMessage(error), permanent };
}
