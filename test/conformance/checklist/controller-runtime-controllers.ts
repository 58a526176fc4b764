import { COVERED } from './verdict.ts';
import type { Checklist } from './verdict.ts';

const RETRIES_ARE_EVENTS =
  'what comes back does so as an event, whatever it was: its delay has spread it already, and results hold no priority';

/** controller-runtime v0.25: controllers. */
export const controllerRuntimeControllers: Checklist = {
  'pkg/internal/controller/controller_test.go': {
    'Controller/Reconciler/should call the Reconciler function': {
      elsewhere: 'test/component/workqueue.test.ts',
      test: 'that is added again while it waits runs once (S1)',
    },
    'Controller/Reconciler/should not recover panic if RecoverPanic is false': {
      skipped: 'what a reconciler throws is always contained',
    },
    'Controller/Reconciler/should recover panic if RecoverPanic is true by default': {
      elsewhere: 'test/component/workqueue.test.ts',
      test: 'that fails is logged once, with its key and cause',
    },
    'Controller/Reconciler/should recover panic if RecoverPanic is true': {
      skipped: 'there is no switch: what a reconciler throws is always contained',
    },
    'Controller/Reconciler/should time out if ReconciliationTimeout is set': {
      skipped:
        'a run has no time-out of its own: every request has one, and the run sees a signal when its lease is lost',
    },
    'Controller/Reconciler/prometheus metric reconcile_timeouts/should increment when ReconciliationTimeout context timeout hits DeadlineExceeded':
      {
        skipped:
          'a run has no time-out of its own: every request has one, and the run sees a signal when its lease is lost',
      },
    'Controller/Reconciler/prometheus metric reconcile_timeouts/should not increment when user code cancels context earlier than the ReconciliationTimeout':
      {
        skipped:
          'a run has no time-out of its own: every request has one, and the run sees a signal when its lease is lost',
      },
    'Controller/Reconciler/prometheus metric reconcile_timeouts/should not increment when reconciliation completes before timeout':
      {
        skipped:
          'a run has no time-out of its own: every request has one, and the run sees a signal when its lease is lost',
      },
    'Controller/Reconciler/prometheus metric reconcile_timeouts/should increment multiple times when multiple reconciles timeout':
      {
        skipped:
          'a run has no time-out of its own: every request has one, and the run sees a signal when its lease is lost',
      },
    'Controller/Reconciler/prometheus metric reconcile_timeouts/should not increment when parent context is cancelled':
      {
        skipped:
          'a run has no time-out of its own: every request has one, and the run sees a signal when its lease is lost',
      },
    'Controller/Reconciler/prometheus metric reconcile_timeouts/should not increment when ReconciliationTimeout is zero':
      {
        skipped:
          'a run has no time-out of its own: every request has one, and the run sees a signal when its lease is lost',
      },
    'Controller/Reconciler/should not configure a timeout if ReconciliationTimeout is zero': {
      skipped:
        'a run has no time-out of its own: every request has one, and the run sees a signal when its lease is lost',
    },
    'Controller/Start/should return an error if there is an error waiting for the informers': COVERED,
    'Controller/Start/should error when cache sync timeout occurs': {
      skipped: 'a controller waits for its sources as long as it takes: a member that is away must not end the process',
    },
    'Controller/Start/should not error when controller Start context is cancelled during Sources WaitForSync': COVERED,
    'Controller/Start/should error when Start() is blocking forever': {
      skipped:
        'sources are shared informers, started by their factory: there is no starting that could block, fail or race',
    },
    'Controller/Start/should not error when cache sync timeout is of sufficiently high': {
      skipped: 'a controller waits for its sources as long as it takes: a member that is away must not end the process',
    },
    'Controller/Start/should not call Reconcile until all event handlers have processed initial objects': COVERED,
    'Controller/Start/should process events from source.Channel': { skipped: 'the only sources are informers' },
    'Controller/Start/should error when channel source is not specified': { skipped: 'the only sources are informers' },
    'Controller/Start/should call Start on sources with the appropriate EventHandler, Queue, and Predicates': COVERED,
    'Controller/Start/should return an error if there is an error starting sources': {
      skipped:
        'sources are shared informers, started by their factory: there is no starting that could block, fail or race',
    },
    'Controller/Start/should return an error if it gets started more than once': {
      skipped: "a builder's types rule it out: one for(), one reconciler, and attaching is constructing",
    },
    'Controller/Start/should check for correct TypedSyncingSource if custom types are used': {
      skipped: "Go's generic types and schemes have no counterpart",
    },
    'Controller/startEventSourcesAndQueueLocked/should return nil when no sources are provided': {
      skipped:
        'sources are shared informers, started by their factory: there is no starting that could block, fail or race',
    },
    'Controller/startEventSourcesAndQueueLocked/should initialize controller queue when called': {
      skipped:
        'sources are shared informers, started by their factory: there is no starting that could block, fail or race',
    },
    'Controller/startEventSourcesAndQueueLocked/should return an error if a source fails to start': {
      skipped:
        'sources are shared informers, started by their factory: there is no starting that could block, fail or race',
    },
    'Controller/startEventSourcesAndQueueLocked/should return an error if a source fails to sync': {
      skipped:
        'sources are shared informers, started by their factory: there is no starting that could block, fail or race',
    },
    'Controller/startEventSourcesAndQueueLocked/should not return an error when sources start and sync successfully': {
      skipped:
        'sources are shared informers, started by their factory: there is no starting that could block, fail or race',
    },
    'Controller/startEventSourcesAndQueueLocked/should not return an error when context is cancelled during source sync':
      {
        skipped:
          'sources are shared informers, started by their factory: there is no starting that could block, fail or race',
      },
    'Controller/startEventSourcesAndQueueLocked/should timeout if source Start blocks for too long': {
      skipped:
        'sources are shared informers, started by their factory: there is no starting that could block, fail or race',
    },
    'Controller/startEventSourcesAndQueueLocked/should only start sources once when called multiple times concurrently':
      {
        skipped:
          'sources are shared informers, started by their factory: there is no starting that could block, fail or race',
      },
    'Controller/startEventSourcesAndQueueLocked/should block subsequent calls from returning until the first call to startEventSourcesAndQueueLocked has returned':
      {
        skipped:
          'sources are shared informers, started by their factory: there is no starting that could block, fail or race',
      },
    'Controller/startEventSourcesAndQueueLocked/should reset c.startWatches to nil after returning and startedEventSourcesAndQueue':
      {
        skipped:
          'sources are shared informers, started by their factory: there is no starting that could block, fail or race',
      },
    'Controller/Processing queue items from a Controller/should call Reconciler if an item is enqueued': {
      elsewhere: 'test/component/workqueue.test.ts',
      test: 'that is added again while it waits runs once (S1)',
    },
    'Controller/Processing queue items from a Controller/should requeue a Request if there is an error and continue processing items':
      {
        elsewhere: 'test/component/workqueue.test.ts',
        test: 'that fails comes back after 5 ms · 2^n, and its failures are forgotten when it succeeds (S9)',
      },
    'Controller/Processing queue items from a Controller/should not requeue a Request if there is a terminal error': {
      elsewhere: 'test/component/workqueue.test.ts',
      test: 'that cannot succeed is not repeated',
    },
    "Controller/Processing queue items from a Controller/should not reset backoff until there's a non-error result": {
      elsewhere: 'test/component/workqueue.test.ts',
      test: 'that fails comes back after 5 ms · 2^n, and its failures are forgotten when it succeeds (S9)',
    },
    'Controller/Processing queue items from a Controller/should requeue a Request with rate limiting if the Result sets Requeue:true and continue processing items':
      { skipped: 'Result has no deprecated Requeue: a reconciler that wants the backoff throws' },
    'Controller/Processing queue items from a Controller/should retain the priority when the reconciler requests a requeue':
      { skipped: RETRIES_ARE_EVENTS },
    'Controller/Processing queue items from a Controller/should use the priority from Result when the reconciler requests a requeue':
      { skipped: RETRIES_ARE_EVENTS },
    'Controller/Processing queue items from a Controller/should requeue a Request after a duration (but not rate-limited) if the Result sets RequeueAfter (regardless of Requeue)':
      {
        elsewhere: 'test/component/workqueue.test.ts',
        test: 'that asks to come back resets its backoff and does, without counting as a failure',
      },
    'Controller/Processing queue items from a Controller/should retain the priority with RequeueAfter': {
      skipped: RETRIES_ARE_EVENTS,
    },
    'Controller/Processing queue items from a Controller/should use the priority from Result with RequeueAfter': {
      skipped: RETRIES_ARE_EVENTS,
    },
    'Controller/Processing queue items from a Controller/should perform error behavior if error is not nil, regardless of RequeueAfter':
      { elsewhere: 'src/workqueue/outcome.test.ts', test: 'that failed' },
    'Controller/Processing queue items from a Controller/should retain the priority when there was an error': {
      skipped: RETRIES_ARE_EVENTS,
    },
    'Controller/Processing queue items from a Controller/should use the priority from Result when there was an error': {
      skipped: RETRIES_ARE_EVENTS,
    },
    'Controller/Processing queue items from a Controller/prometheus metric reconcile_total/should get updated on successful reconciliation':
      { elsewhere: 'src/workqueue/metrics.test.ts', test: 'count runs by result, errors, and those that are terminal' },
    'Controller/Processing queue items from a Controller/prometheus metric reconcile_total/should get updated on reconcile errors':
      { elsewhere: 'src/workqueue/metrics.test.ts', test: 'count runs by result, errors, and those that are terminal' },
    'Controller/Processing queue items from a Controller/prometheus metric reconcile_total/should get updated when reconcile returns with retry enabled':
      { skipped: 'Result has no deprecated Requeue: a reconciler that wants the backoff throws' },
    'Controller/Processing queue items from a Controller/prometheus metric reconcile_total/should get updated when reconcile returns with retryAfter enabled':
      { elsewhere: 'src/workqueue/metrics.test.ts', test: 'count runs by result, errors, and those that are terminal' },
    'Controller/Processing queue items from a Controller/should update prometheus metrics/should requeue a Request if there is an error and continue processing items':
      {
        elsewhere: 'test/component/workqueue.test.ts',
        test: 'that fails comes back after 5 ms · 2^n, and its failures are forgotten when it succeeds (S9)',
      },
    'Controller/Processing queue items from a Controller/should update prometheus metrics/should add a reconcile time to the reconcile time histogram':
      { elsewhere: 'src/workqueue/metrics.test.ts', test: 'have the buckets of controller-runtime' },
    'Controller/Warmup/should track warmup status correctly with successful sync': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should return an error if there is an error waiting for the informers': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should error when cache sync timeout occurs': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should not error when controller Warmup context is cancelled during Sources WaitForSync': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should error when Warmup() is blocking forever': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should not error when cache sync timeout is of sufficiently high': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should process events from source.Channel': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should error when channel source is not specified': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should call Start on sources with the appropriate EventHandler, Queue, and Predicates': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should return an error if there is an error starting sources': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should track warmup status correctly with unsuccessful sync': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should call Start on sources with the appropriate non-nil queue': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should return true if context is cancelled while waiting for source to start': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should be called before leader election runnables if warmup is enabled': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should not cause a data race when called concurrently': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should not cause a data race when called concurrently with Start and only start sources once': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should start sources added after Warmup is called': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup/should not leak goroutines when manager is stopped with warmup runnable': {
      skipped: 'there is no warm-up: informers run on their own, before and apart from any lease',
    },
    'Controller/Warmup with warmup disabled/should not start sources when Warmup is called if warmup is disabled but start it when Start is called':
      { skipped: 'there is no warm-up: informers run on their own, before and apart from any lease' },
    'Controller/should return an empty string if there is nothing in the context': {
      skipped: 'the context is an argument: no value is looked up in it',
    },
    'Controller/should return the correct reconcileID from context': {
      skipped: 'the context is an argument: no value is looked up in it',
    },
  },
};
