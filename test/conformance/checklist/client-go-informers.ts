import { COVERED } from './verdict.ts';
import type { Checklist } from './verdict.ts';

/** client-go v0.37, `tools/cache` and `tools/watch`: queues, stores and shared informers. */
export const clientGoInformers: Checklist = {
  'tools/cache/the_real_fifo_test.go': {
    TestRealFIFO_basic: COVERED,
    TestRealFIFO_replaceWithDeleteDeltaIn: COVERED,
    TestRealFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue: COVERED,
    TestRealFIFO_addUpdate: COVERED,
    TestRealFIFO_transformer: COVERED,
    TestRealFIFO_enqueueingNoLister: COVERED,
    TestRealFIFO_enqueueingWithLister: COVERED,
    TestRealFIFO_addReplace: COVERED,
    TestRealFIFO_ResyncNonExisting: COVERED,
    TestRealFIFO_Resync: COVERED,
    TestRealFIFO_DeleteExistingNonPropagated: COVERED,
    TestRealFIFO_ReplaceMakesDeletions: COVERED,
    TestRealFIFO_ReplaceMakesDeletionsReplaced: COVERED,
    TestRealFIFO_UpdateResyncRace: COVERED,
    TestRealFIFO_HasSyncedCorrectOnDeletion: COVERED,
    TestRealFIFO_detectLineJumpers: COVERED,
    TestRealFIFO_KeyOf: { skipped: 'there is no tombstone to unwrap: onDelete is always given an object' },
    TestRealFIFO_HasSynced: COVERED,
    TestRealFIFO_PopShouldUnblockWhenClosed: COVERED,
    TestRealFIFO_PopMultipleDeltaInBatch: {
      skipped:
        "batches save lock acquisitions, and a single thread has no locks; the order is TestRealFIFO_addUpdate's",
    },
    TestRealFIFO_PopBrokenItemsInBatch: COVERED,
    TestRealFIFO_ReplaceAtomic: COVERED,
    TestRealFIFO_ReplaceAtomicPop: {
      skipped:
        "batches save lock acquisitions, and a single thread has no locks; the order is TestRealFIFO_addUpdate's",
    },
    TestRealFIFO_ResyncAtomic: COVERED,
  },
  'tools/cache/delta_fifo_test.go': {
    TestDeltaFIFO_basic: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_replaceWithDeleteDeltaIn: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_addUpdate: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_transformer: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_enqueueingNoLister: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_enqueueingWithLister: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_addReplace: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_ResyncNonExisting: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_Resync: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_DeleteExistingNonPropagated: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_ReplaceMakesDeletions: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_ReplaceMakesDeletionsReplaced: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_ReplaceDeltaType: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_UpdateResyncRace: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_HasSyncedCorrectOnDeletion: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_detectLineJumpers: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_KeyOf: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_HasSynced: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
    TestDeltaFIFO_PopShouldUnblockWhenClosed: {
      skipped: "client-go's older queue, which folds by key; informers use RealFIFO, whose tests are covered",
    },
  },
  'tools/cache/controller_test.go': {
    TestHammerController: COVERED,
    TestUpdate: COVERED,
    TestPanicPropagated: { skipped: 'what a handler throws is contained by design, see TestEventPanics' },
    TestTransformingInformer: COVERED,
    TestTransformingInformerRace: {
      skipped: 'a transform runs synchronously at decode: there is no second goroutine to race with',
    },
    TestDeletionHandlingObjectToName: {
      skipped: 'there is no tombstone to unwrap: onDelete is always given an object',
    },
    TestDeletedObjectGetObjectName: { skipped: 'there is no tombstone to unwrap: onDelete is always given an object' },
    TestDeletedObjectGetKey: { skipped: 'there is no tombstone to unwrap: onDelete is always given an object' },
    TestProcessDeltasInBatch: COVERED,
    TestReplaceEvents: COVERED,
    TestResetWatch: COVERED,
    TestStoreResourceVersion: COVERED,
    TestStoreResourceVersionWithNonMetaTransform: {
      skipped: 'a transform that returns no Kubernetes object is a type error; the version is read before it',
    },
  },
  'tools/cache/store_test.go': {
    TestCache: COVERED,
    TestCacheWithTransformer: COVERED,
    TestFIFOCache: { skipped: "client-go's oldest queue, not used by informers" },
    TestUndeltaStore: { skipped: 'a store that pushes its whole content on each change is not offered' },
    TestIndex: COVERED,
    TestKeyError: {
      skipped:
        'every object that is let in has a name: the decoder refuses others, see TestRealFIFO_PopBrokenItemsInBatch',
    },
    TestCacheTransactionShouldIndexErrors: COVERED,
    TestWithStoreMetricsDefaulting: {
      skipped: "Go's option defaults; the informer gauges are tested in src/informers",
    },
  },
  'tools/cache/index_test.go': {
    TestGetIndexFuncValues: {
      elsewhere: 'src/informers/store.test.ts',
      test: 'know their values, and forget a value with its last object',
    },
    TestMultiIndexKeys: COVERED,
  },
  'tools/cache/thread_safe_store_test.go': {
    TestThreadSafeStoreDeleteRemovesEmptySetsFromIndex: {
      elsewhere: 'src/informers/store.test.ts',
      test: 'know their values, and forget a value with its last object',
    },
    TestThreadSafeStoreAddKeepsNonEmptySetPostDeleteFromIndex: COVERED,
    TestThreadSafeStoreIndexingFunctionsWithMultipleValues: COVERED,
    TestThreadSafeStoreRV: COVERED,
  },
  'tools/cache/shared_informer_test.go': {
    TestIndexer: COVERED,
    TestListenerResyncPeriods: COVERED,
    TestListenerResyncPeriodsDelayed: { skipped: 'simulates a goroutine that is scheduled late' },
    TestResyncCheckPeriod: COVERED,
    TestSharedInformerInitializationRace: COVERED,
    TestSharedInformerWatchDisruption: COVERED,
    TestSharedInformerErrorHandling: COVERED,
    TestSharedInformerStartRace: COVERED,
    TestSharedInformerTransformer: COVERED,
    TestSharedInformerRemoveHandler: COVERED,
    TestSharedInformerRemoveForeignHandler: {
      skipped: 'a registration removes itself: it cannot be handed to another informer',
    },
    TestSharedInformerMultipleRegistration: COVERED,
    TestRemovingRemovedSharedInformer: COVERED,
    TestSharedInformerHandlerAbuse: COVERED,
    TestStateSharedInformer: COVERED,
    TestAddOnStoppedSharedInformer: COVERED,
    TestRemoveOnStoppedSharedInformer: COVERED,
    TestRemoveWhileActive: COVERED,
    TestAddWhileActive: COVERED,
    TestShutdown: COVERED,
    TestEventPanics: COVERED,
    TestRemoveEventHandler_AsynchronousPanic: {
      skipped: 'nothing crashes the process: a handler that throws is contained, see TestEventPanics',
    },
    TestRemoveEventHandler_SynchronousShutdown: COVERED,
    TestShutDownEventHandler_Lifecycles: COVERED,
  },
  'tools/cache/mutation_detector_test.go': {
    TestMutationDetector: COVERED,
  },
  'tools/cache/mutation_cache_test.go': {
    TestMutationCacheOnAddOrUpdate: COVERED,
    TestMutationCacheOnDelete: COVERED,
    TestMutationCacheUpdateConcurrentDelete: COVERED,
    TestMutationCacheUpdateConcurrentRecreate: COVERED,
    TestMutationCacheOnDeleteClearsStaleMutation: COVERED,
  },
  'tools/cache/wait_test.go': {
    TestWaitFor: COVERED,
    TestSyncResult: { skipped: 'waitForSync answers for all informers of a factory; lastError says why one has not' },
  },
  'tools/cache/synctrack/synctrack_test.go': {
    TestBasicLogic: {
      skipped: "synctrack counts handlers across goroutines; here a handler's own buffer says when it is through",
    },
    TestAsyncLocking: {
      skipped: "synctrack counts handlers across goroutines; here a handler's own buffer says when it is through",
    },
    TestSingleFileCounting: {
      skipped: "synctrack counts handlers across goroutines; here a handler's own buffer says when it is through",
    },
    TestSingleFile: {
      skipped: "synctrack counts handlers across goroutines; here a handler's own buffer says when it is through",
    },
  },
  'tools/cache/synctrack/lazy_test.go': {
    TestLazy: { skipped: 'no value is computed lazily from several caches' },
    TestLazyThroughput: { skipped: 'no value is computed lazily from several caches' },
    TestLazySlowEval: { skipped: 'no value is computed lazily from several caches' },
    TestLazySlowEval2: { skipped: 'no value is computed lazily from several caches' },
    TestLazyOnlyOnce: { skipped: 'no value is computed lazily from several caches' },
    TestLazyError: { skipped: 'no value is computed lazily from several caches' },
  },
  'tools/watch/informerwatcher_test.go': {
    TestEventProcessorExit: {
      skipped: 'there is no free-standing watch to wait on: who waits for a state reads an informer',
    },
    TestEventProcessorOrdersEvents: {
      skipped: 'there is no free-standing watch to wait on: who waits for a state reads an informer',
    },
    TestNewInformerWatcher: {
      skipped: 'there is no free-standing watch to wait on: who waits for a state reads an informer',
    },
    TestInformerWatcherDeletedFinalStateUnknown: {
      skipped: 'there is no free-standing watch to wait on: who waits for a state reads an informer',
    },
  },
  'tools/watch/retrywatcher_test.go': {
    TestNewRetryWatcher: {
      skipped: 'there is no free-standing watch to wait on: who waits for a state reads an informer',
    },
    TestRetryWatcher: {
      skipped: 'there is no free-standing watch to wait on: who waits for a state reads an informer',
    },
    TestRetryWatcherToFinishWithUnreadEvents: {
      skipped: 'there is no free-standing watch to wait on: who waits for a state reads an informer',
    },
  },
  'tools/watch/until_test.go': {
    TestUntil: { skipped: 'there is no free-standing watch to wait on: who waits for a state reads an informer' },
    TestUntilMultipleConditions: {
      skipped: 'there is no free-standing watch to wait on: who waits for a state reads an informer',
    },
    TestUntilMultipleConditionsFail: {
      skipped: 'there is no free-standing watch to wait on: who waits for a state reads an informer',
    },
    TestUntilTimeout: {
      skipped: 'there is no free-standing watch to wait on: who waits for a state reads an informer',
    },
    TestUntilErrorCondition: {
      skipped: 'there is no free-standing watch to wait on: who waits for a state reads an informer',
    },
    TestUntilWithSync: {
      skipped: 'there is no free-standing watch to wait on: who waits for a state reads an informer',
    },
  },
};
