import { COVERED } from './verdict.ts';
import type { Checklist } from './verdict.ts';

/** client-go v0.37, `tools/record`: events about objects. */
export const clientGoRecord: Checklist = {
  'tools/record/event_test.go': {
    TestBroadcasterShutdown: COVERED,
    TestStartEventWatcherExitsOnDirectShutdown: {
      skipped: 'there is no broadcaster: a recorder writes for itself, and nothing runs between calls',
    },
    TestNonRacyShutdown: {
      skipped: 'there is no broadcaster: a recorder writes for itself, and nothing runs between calls',
    },
    TestEventf: COVERED,
    TestWriteEventError: COVERED,
    TestUpdateExpiredEvent: COVERED,
    TestCancelEvent: COVERED,
    TestLotsOfEvents: COVERED,
    TestEventfNoNamespace: COVERED,
    TestMultiSinkCache: {
      skipped: 'there is no broadcaster: a recorder writes for itself, and nothing runs between calls',
    },
  },
  'tools/record/events_cache_test.go': {
    TestEventAggregatorByReasonFunc: COVERED,
    TestEventAggregatorByReasonMessageFunc: COVERED,
    TestEventCorrelator: COVERED,
    TestEventSpamFilter: COVERED,
  },
};
