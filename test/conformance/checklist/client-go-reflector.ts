import { COVERED } from './verdict.ts';
import type { Checklist } from './verdict.ts';

/** client-go v0.37, `tools/cache`: the reflector, streamed lists and pages. */
export const clientGoReflector: Checklist = {
  'tools/cache/reflector_test.go': {
    TestCloseWatchChannelOnError: COVERED,
    TestRunUntil: COVERED,
    TestReflectorResyncChan: COVERED,
    TestReflectorWatchStoppedBefore: COVERED,
    TestReflectorWatchStoppedAfter: COVERED,
    TestReflectorHandleWatchStoppedBefore: COVERED,
    TestReflectorHandleWatchStoppedAfter: COVERED,
    TestReflectorHandleWatchResultChanClosedBefore: COVERED,
    TestReflectorHandleWatchResultChanClosedAfter: COVERED,
    TestReflectorWatchHandler: COVERED,
    TestReflectorStopWatch: COVERED,
    TestReflectorListAndWatch: COVERED,
    TestReflectorListAndWatchWithErrors: COVERED,
    TestReflectorListAndWatchInitConnBackoff: COVERED,
    TestNewReflectorWithCustomBackoff: {
      skipped: 'the backoff is one set of numbers, not an option; its jitter and reset are covered',
    },
    TestBackoffOnTooManyRequests: COVERED,
    TestNoRelistOnTooManyRequests: COVERED,
    'TestRetryInternalError/retries off': { skipped: 'errors of the server are always taken for passing for 30 s' },
    'TestRetryInternalError/retries on, all calls fail': COVERED,
    'TestRetryInternalError/retries on, one call successful': COVERED,
    TestReflectorResync: COVERED,
    TestReflectorWatchListPageSize: COVERED,
    TestReflectorNotPaginatingNotConsistentReads: COVERED,
    TestReflectorPaginatingNonConsistentReadsIfWatchCacheDisabled: COVERED,
    TestReflectorResyncWithResourceVersion: COVERED,
    TestReflectorExpiredExactResourceVersion: COVERED,
    TestReflectorFullListIfExpired: COVERED,
    TestReflectorFullListIfTooLarge: COVERED,
    TestGetTypeDescriptionFromObject: {
      skipped: "Go's types and reflection have no counterpart: objects are plain JSON",
    },
    TestGetExpectedGVKFromObject: { skipped: "Go's types and reflection have no counterpart: objects are plain JSON" },
    TestWatchTimeout: COVERED,
    TestReflectorResourceVersionUpdate: COVERED,
    TestReflectorListExtract: COVERED,
    TestReflectorReplacesStoreOnUnsafeDelete: COVERED,
    TestReflectorRespectStoreTransformer: COVERED,
    TestIsUnsupportedTableObject: COVERED,
  },
  'tools/cache/reflector_watchlist_test.go': {
    TestNewReflectorWithDisablementWatchList: {
      skipped: 'there is no feature gate: a server that refuses the stream is listed in pages',
    },
    TestInitialEventsEndBookmarkTicker: {
      skipped: 'there is no warning after 10 s: a stream without its mark is cut by the idle limit and counted',
    },
    TestWatchListResourceVersion: COVERED,
    "TestWatchList/the reflector won't be synced if the bookmark event has been received": COVERED,
    'TestWatchList/the reflector uses the old LIST/WATCH semantics if the UseWatchList is turned off': {
      skipped: 'streamed lists cannot be turned off',
    },
    'TestWatchList/returning any other error than apierrors.NewInvalid forces fallback': COVERED,
    "TestWatchList/the reflector can fall back to old LIST/WATCH semantics when a server doesn't support streaming":
      COVERED,
    'TestWatchList/prove that the reflector is synced after receiving a bookmark event': COVERED,
    'TestWatchList/check if Updates and Deletes events are propagated during streaming (until the bookmark is received)':
      COVERED,
    'TestWatchList/checks if the reflector retries 429': COVERED,
    'TestWatchList/check if stopping a watcher before sync results in creating a new watch-list request': COVERED,
    'TestWatchList/stopping a watcher after synchronization results in creating a new watch request': COVERED,
    'TestWatchList/expiring an established watcher results in returning an error from the reflector': COVERED,
    'TestWatchList/prove that the reflector is checking the value of the initialEventsEnd annotation': COVERED,
  },
  'tools/cache/retry_with_deadline_test.go': {
    TestRetryWithDeadline: { skipped: "the deadline is the reflector's own, see TestRetryInternalError" },
  },
  'tools/cache/reflector_data_consistency_detector_test.go': {
    TestReflectorDataConsistencyDetector: COVERED,
  },
  'tools/pager/pager_test.go': {
    'TestListPager_List/empty page': COVERED,
    'TestListPager_List/one page': COVERED,
    'TestListPager_List/one full page': COVERED,
    'TestListPager_List/two pages': COVERED,
    'TestListPager_List/three pages': COVERED,
    'TestListPager_List/expires on second page': COVERED,
    'TestListPager_List/expires on second page and then lists': COVERED,
    'TestListPager_List/two pages with resourceVersion': COVERED,
    'TestListPager_List/two pages with resourceVersion and resourceVersionMatch': {
      skipped: 'the reflector sets no resourceVersionMatch on paged lists',
    },
    TestListPager_EachListItem: { skipped: 'pages are taken over as a whole; nothing is called back per item' },
    TestListPager_eachListPageBuffered: { skipped: 'pages are read one after the other, none ahead' },
  },
};
