import { COVERED } from './verdict.ts';
import type { Checklist, Verdict } from './verdict.ts';

/** In the table S1 to S11 of what a keyed queue does, or beside it. */
function component(test: string): Verdict {
  return { elsewhere: 'test/component/workqueue.test.ts', test };
}

const S1 = component('that is added again while it waits runs once (S1)');
const S2 = component(
  'that is added again while it runs, by several replicas, runs exactly once more, and not at the same time (S2)',
);
const S3 = component('keeps the earliest of several delays (S3)');
const S4 = component('runs at once when it is added while a delay waits, and again when that is over (S4)');
const S9 = component('that fails comes back after 5 ms · 2^n, and its failures are forgotten when it succeeds (S9)');
const S10 = component('that waits as a resync is overtaken by events, also by itself as an event (S10)');
const S11 = component('waits while its queue is stopped, and runs once when it is started again (S11)');
const DRAINS = component('ends before its queue has stopped, when it can in time');
const FUZZ: Verdict = {
  elsewhere: 'test/component/workqueue-kills.test.ts',
  test: 'no add is lost and no key runs twice',
};
const RETRY_LIMIT: Verdict = {
  elsewhere: 'test/component/workqueue-shares.test.ts',
  test: 'retries are held back by a token bucket besides their own backoff, when one is wanted',
};
const DEPTH: Verdict = {
  skipped: 'the depth is read from Redis when it is shown: nothing is counted up and down that could drift',
};
const TWO_LIMITERS: Verdict = {
  skipped: 'nobody wants this limiter: there are the backoff of a key and the token bucket',
};

/** client-go v0.37, `util/workqueue`. */
export const clientGoWorkqueue: Checklist = {
  'util/workqueue/queue_test.go': {
    TestBasic: COVERED,
    TestAddWhileProcessing: COVERED,
    TestLen: COVERED,
    TestReinsert: S2,
    TestCollapse: S1,
    TestCollapseWhileProcessing: S2,
    TestQueueDrainageUsingShutDownWithDrain: DRAINS,
    TestNoQueueDrainageUsingShutDown: COVERED,
    TestForceQueueShutdownUsingShutDown: {
      skipped:
        'a stop has its deadline from the start, after which runs are abandoned: there is no endless one to force',
    },
    TestQueueDrainageUsingShutDownWithDrainWithDirtyItem: COVERED,
    TestGarbageCollection: COVERED,
  },
  'util/workqueue/delaying_queue_test.go': {
    TestSimpleQueue: COVERED,
    TestDeduping: S3,
    TestAddTwoFireEarly: COVERED,
    TestCopyShifting: COVERED,
  },
  'util/workqueue/default_rate_limiters_test.go': {
    TestItemExponentialFailureRateLimiter: S9,
    TestItemExponentialFailureRateLimiterOverFlow: COVERED,
    TestItemFastSlowRateLimiter: TWO_LIMITERS,
    TestMaxOfRateLimiter: RETRY_LIMIT,
    TestWithMaxWaitRateLimiter: TWO_LIMITERS,
  },
  'util/workqueue/rate_limiting_queue_test.go': { TestRateLimitingQueue: S9 },
  'util/workqueue/metrics_test.go': {
    TestMetrics: {
      elsewhere: 'src/workqueue/metrics.test.ts',
      test: 'tell shards and kinds apart in counters, and only the hub from members in histograms',
    },
    TestMetricShutdown: {
      elsewhere: 'src/workqueue/metrics.test.ts',
      test: 'show a queue while it is worked here, and nothing afterwards',
    },
  },
  'util/workqueue/parallelizer_test.go': {
    TestParallelizeUntil: { skipped: 'there is no such function: what runs at once is up to the queues' },
  },
};

/** controller-runtime v0.25: the priority queue. */
export const controllerRuntimePriorityQueue: Checklist = {
  'pkg/controller/priorityqueue/priorityqueue_test.go': {
    'Controllerworkqueue/returns an item': S1,
    'Controllerworkqueue/returns items in order': COVERED,
    "Controllerworkqueue/doesn't return an item that is currently locked": S2,
    'Controllerworkqueue/returns an item as soon as its unlocked': S2,
    'Controllerworkqueue/de-duplicates items': S1,
    'Controllerworkqueue/enqueues a locked item': S2,
    'Controllerworkqueue/retains the highest priority': S10,
    'Controllerworkqueue/will not decrease the priority': S10,
    'Controllerworkqueue/gets pushed to the front if the priority increases': S10,
    'Controllerworkqueue/retains the lowest after duration': S3,
    "Controllerworkqueue/doesn't include non-ready items in Len()": COVERED,
    'Controllerworkqueue/Get from priority queue might get stuck when the priority queue is shut down': S11,
    'Controllerworkqueue/returns many items': FUZZ,
    'Controllerworkqueue/updates metrics correctly for an item that gets initially added with after and then without':
      DEPTH,
    'Controllerworkqueue/updates metrics correctly when an item with after is re-added with higher priority and no after':
      DEPTH,
    'Controllerworkqueue/follows FIFO order in the new priority queue when item priority changes': COVERED,
    TestFuzzPriorityQueue: FUZZ,
    TestHighPriorityItemsAreReturnedBeforeLowPriorityItemMultipleTimes: S10,
    TestItemIsOnlyReturnedAfterAfterHasPassed: {
      elsewhere: 'test/conformance/workqueue.real.test.ts',
      test: 'TestSimpleQueue: a key does not run before its time',
    },
    TestHighPriorityItemThatBecameReadyIsReturnedBeforeLowPriorityItem: COVERED,
    TestItemIsReturnedAsSoonAsPossible: S1,
    TestWaitingItemIsReturnedRightAfterReadWithoutAfter: S4,
    TestMultipleItemsWithAfterAreReturnedInCorrectOrder: {
      elsewhere: 'test/conformance/workqueue.real.test.ts',
      test: 'TestAddTwoFireEarly: of two delays the shorter ends first, though it was added last',
    },
    TestGetFromPriorityQueueIsUnblockedOnShutdown: {
      elsewhere: 'test/component/workqueue-outages.test.ts',
      test: 'is down, stopping and closing end by their deadlines',
    },
    TestItemsAreInludedInLenAndMetricsOnceTheyAreReady: DEPTH,
    TestMetricsAreUpdatedForItemWhoseRequeueAfterExpiredThatGetsAddedAgainWithoutRequeueAfter: DEPTH,
    TestWhenAddingMultipleItemsWithRatelimitTrueTheyDontAffectEachOther: RETRY_LIMIT,
    TestPriorityQueueDoesNotDeadlockOnShutdownWhileHandingOutItems: {
      skipped: 'no lock is held while a key is handed out: Redis gives it to whoever asks',
    },
    TestPriorityQueueLogStateDoesNotRaceOnReadyAt: { skipped: 'nothing of the kind is logged: the metrics show it' },
    TestItemCloneCopiesAllFields: { skipped: 'items are text: nothing is cloned' },
    TestItemCloneDoesNotShareMemoryWithOriginal: { skipped: 'items are text: nothing is cloned' },
  },
};
