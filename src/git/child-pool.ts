import { parseExact } from '../kernel/index.ts';
import type { Cancel, Clock, Logger } from '../kernel/index.ts';
import { ChildHandle, type ChildDeath, type ChildMemory } from './child-handle.ts';
import { GitError } from './git-error.ts';
import type { ChildMessage, GitJob } from './git-job.ts';

/** How long a child without a job is kept: its cache saves parsing, but it holds some 100 MiB. */
const IDLE = 300_000;
/** How many there are at most: a read takes a core, and up to the memory limit. They are started when needed. */
const CHILDREN = 2;
/** Polls mostly wait for the network, so a child has many, beside one read. */
const JOBS_PER_CHILD = 16;
/** A job whose child died for another job's sake is run once more. */
const ATTEMPTS = 2;

/** Options of {@link ChildPool}. */
export interface ChildPoolOptions {
  readonly script: URL;
  /** The only folder that children may write to. */
  readonly directory: string;
  readonly memory: ChildMemory;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What a job came to: what the child sent as its result. */
export type JobResult = Readonly<Record<string, unknown>>;

interface PendingJob {
  readonly id: number;
  readonly job: GitJob;
  readonly settle: PromiseWithResolvers<JobResult>;
  readonly parts: Map<string, unknown[]>;
  attempts: number;
}

interface Member {
  readonly handle: ChildHandle;
  readonly jobs: Map<number, PendingJob>;
  /** The clones it has read: their texts and manifests are in its cache. */
  readonly clones: Set<string>;
  cancelIdle: Cancel | undefined;
}

/** The children, and the jobs that wait for them. */
export class ChildPool {
  readonly #options: ChildPoolOptions;
  readonly #members = new Set<Member>();
  readonly #waiting = new Set<PendingJob>();
  #nextId = 1;
  #closed = false;

  constructor(options: ChildPoolOptions) {
    this.#options = options;
  }

  /** Runs a job on a child. @throws GitError */
  run(job: GitJob): Promise<JobResult> {
    const settle = Promise.withResolvers<JobResult>();
    this.#waiting.add({ id: this.#nextId, job, settle, parts: new Map(), attempts: 0 });
    this.#nextId += 1;
    this.#dispatch();
    return settle.promise;
  }

  /** Ends all children; jobs that have not ended are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#dispatch();
    await Promise.all([...this.#members].map(({ handle }) => handle.stop()));
  }

  #dispatch(): void {
    for (const pending of this.#waiting) {
      const member = this.#closed ? undefined : this.#memberFor(pending.job);
      if (member === undefined && !this.#closed) continue;
      this.#waiting.delete(pending);
      if (member === undefined) pending.settle.reject(new GitError('InternalError', 'Atoll is stopping'));
      else this.#give(member, pending);
    }
  }

  /** One that has the clone in its cache, else one that does not read, else a new one; undefined when all are busy. */
  #memberFor(job: GitJob): Member | undefined {
    const free = [...this.#members].filter((member) => hasTimeFor(job, member));
    const clone = job.operation === 'read' ? job.directory : '';
    const best = free.find(({ clones }) => clones.has(clone)) ?? free.find((member) => !isReading(member));
    return best ?? (this.#members.size < CHILDREN ? this.#start() : free[0]);
  }

  #start(): Member {
    const handle = new ChildHandle({
      ...this.#options,
      onMessage: (message) => this.#receive(member, message),
      onExit: (death) => this.#bury(member, death),
    });
    const member: Member = { handle, jobs: new Map(), clones: new Set(), cancelIdle: undefined };
    this.#members.add(member);
    return member;
  }

  #give(member: Member, pending: PendingJob): void {
    member.cancelIdle?.();
    pending.attempts += 1;
    pending.parts.clear();
    member.jobs.set(pending.id, pending);
    if (pending.job.operation === 'read') member.clones.add(pending.job.directory);
    member.handle.give(pending.id, pending.job);
  }

  #receive(member: Member, message: ChildMessage): void {
    const pending = member.jobs.get(message.id);
    if (pending === undefined) return;
    if (message.type === 'part') {
      const items = pending.parts.get(message.field) ?? [];
      pending.parts.set(message.field, items.concat(parseExact(message.text)));
      return;
    }
    member.jobs.delete(message.id);
    if (message.type === 'result') pending.settle.resolve(assemble(message.text, pending.parts));
    else pending.settle.reject(new GitError(message.error.reason, message.error.message, message.error));
    if (member.jobs.size === 0) member.cancelIdle = this.#options.clock.after(IDLE, () => this.#dismiss(member));
    this.#dispatch();
  }

  #dismiss(member: Member): void {
    this.#members.delete(member);
    void member.handle.stop();
  }

  /** The job that is to blame failed; those that only shared the child are run again. */
  #bury(member: Member, { error, overdue, output }: ChildDeath): void {
    member.cancelIdle?.();
    this.#members.delete(member);
    const blamed = blame(member, overdue);
    for (const pending of member.jobs.values()) {
      if (pending !== blamed && pending.attempts < ATTEMPTS && !this.#closed) this.#waiting.add(pending);
      else pending.settle.reject(error);
    }
    if (member.jobs.size > 0 && !this.#closed) {
      this.#options.logger.warn('a Git child process died', { reason: error.reason, cause: error.message, output });
    }
    member.jobs.clear();
    this.#dispatch();
  }
}

function isReading({ jobs }: Member): boolean {
  return [...jobs.values()].some(({ job }) => job.operation === 'read');
}

function hasTimeFor(job: GitJob, member: Member): boolean {
  return job.operation === 'read' ? !isReading(member) : member.jobs.size < JOBS_PER_CHILD;
}

/** Who made a child die: its read, as polls take neither time nor memory; else whoever did not end; else the only one. */
function blame({ jobs }: Member, overdue: number | undefined): PendingJob | undefined {
  const all = [...jobs.values()];
  return (
    all.find(({ job }) => job.operation === 'read') ??
    all.find(({ id }) => id === overdue) ??
    (all.length === 1 ? all[0] : undefined)
  );
}

function assemble(text: string, parts: ReadonlyMap<string, unknown[]>): JobResult {
  const result = parseExact(text) as Record<string, unknown>;
  if (parts.size === 0) return result;
  return { ...result, content: { ...(result['content'] as object), ...Object.fromEntries(parts) } };
}
