/** What every question to a worker's process says. */
export interface QueueQuestion {
  readonly url: string;
  readonly shard: string;
  readonly concurrency: number;
}

/** How long so many keys take. */
export interface Jobs extends QueueQuestion {
  readonly what: 'jobs';
  readonly by: 'atoll' | 'bullmq';
  readonly count: number;
}

/** How long it takes until a key runs that is added alone. */
export interface Singles extends QueueQuestion {
  readonly what: 'singles';
  readonly warmUp: number;
  readonly samples: number;
  /** Milliseconds between two. */
  readonly pause: number;
}

/** How long an event takes beside a backlog of resyncs. */
export interface Latency extends QueueQuestion {
  readonly what: 'latency';
  readonly backlog: number;
  readonly when: 'while it is added' | 'while it waits';
  readonly samples: number;
  /** Milliseconds between two. */
  readonly pause: number;
  /** Milliseconds that each run takes. */
  readonly runTime: number;
}

/** How many runs a backlog of resyncs needs to drain beside a stream of events. */
export interface Shares extends QueueQuestion {
  readonly what: 'shares';
  readonly backlog: number;
  /** Events that add themselves again. */
  readonly stream: number;
}

/** What a worker's process is asked. */
export type Question = Jobs | Singles | Latency | Shares;
