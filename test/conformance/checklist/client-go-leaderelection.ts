import { COVERED } from './verdict.ts';
import type { Checklist, Verdict } from './verdict.ts';

const leadership = (test: string): Verdict => ({ elsewhere: 'test/component/leadership.test.ts', test });
const epochs = (test: string): Verdict => ({ elsewhere: 'test/component/lease-epoch-store.test.ts', test });

const UNCOORDINATED: Verdict = {
  skipped:
    'no server chooses among candidates: every replica computes the same assignment, see src/leadership/assignment.ts',
};
const HANDED_OVER = leadership(
  'of a replica that stops are taken over long before its lease would have ended, the others stay',
);
const RELEASED_IN_REDIS: Verdict = {
  skipped: 'a release is one script in Redis: the Lease on the hub is neither read nor written for it',
};
const NO_HEALTH_CHECK: Verdict = {
  skipped:
    'a replica that holds nothing is healthy: its lease bounds what it does, and leader_election_master_status tells',
};
const NO_EVENTS: Verdict = { skipped: 'no event is recorded about a Lease: holder and times stand in it' };

/** client-go v0.37, `tools/leaderelection`: here in two parts, leases in Redis and epochs in the hub's Leases. */
export const clientGoLeaderElection: Checklist = {
  'tools/leaderelection/leaderelection_test.go': {
    'TestTryAcquireOrRenewLeases/acquire from no object': COVERED,
    'TestTryAcquireOrRenewLeases/acquire from object without annotations': COVERED,
    'TestTryAcquireOrRenewLeases/acquire from led object with the lease duration seconds': leadership(
      'of a killed replica are taken over, and not before its lease ends',
    ),
    'TestTryAcquireOrRenewLeases/acquire from unled object': COVERED,
    'TestTryAcquireOrRenewLeases/acquire from led, unacked object': COVERED,
    'TestTryAcquireOrRenewLeases/acquire from empty led, acked object': COVERED,
    "TestTryAcquireOrRenewLeases/don't acquire from led, acked object": COVERED,
    'TestTryAcquireOrRenewLeases/renew already acquired object': COVERED,
    "TestTryCoordinatedRenew/don't acquire from led, acked object": UNCOORDINATED,
    'TestTryCoordinatedRenew/renew already acquired object': UNCOORDINATED,
    TestLeaseSpecToLeaderElectionRecordRoundTrip: {
      skipped: 'there is one form of the record, the Lease itself: nothing is converted',
    },
    'TestReleaseLeaseLeases/release acquired lock from no object': HANDED_OVER,
    TestReleaseMethodCallsGet: RELEASED_IN_REDIS,
    TestReleaseRetriesOnConflict: RELEASED_IN_REDIS,
    'TestReleaseOnCancellation_Leases/release acquired lock on cancellation of update': HANDED_OVER,
    'TestReleaseOnCancellation_Leases/release acquired lock on cancellation of get': HANDED_OVER,
    TestLeaderElectionConfigValidation: COVERED,
    'TestFastPathLeaderElection/Exercise fast path after lock acquired': COVERED,
    'TestFastPathLeaderElection/Fallback to slow path after fast path fails': COVERED,
    TestCheckMethodRace: { skipped: 'a single thread has no data races; what is asked is answered from one moment' },
  },
  'tools/leaderelection/healthzadaptor_test.go': {
    'TestLeaderElectionHealthChecker/call check before leader elector initialized': NO_HEALTH_CHECK,
    'TestLeaderElectionHealthChecker/call check when the lease is far expired': NO_HEALTH_CHECK,
    'TestLeaderElectionHealthChecker/call check when the lease is far expired but held by another server':
      NO_HEALTH_CHECK,
    'TestLeaderElectionHealthChecker/call check when the lease is not expired': NO_HEALTH_CHECK,
    'TestLeaderElectionHealthChecker/call check when the lease is expired but inside the timeout': NO_HEALTH_CHECK,
  },
  'tools/leaderelection/leasecandidate_test.go': {
    TestLeaseCandidateCreation: UNCOORDINATED,
    TestLeaseCandidateAck: UNCOORDINATED,
  },
  'tools/leaderelection/resourcelock/leaselock_test.go': {
    TestGetError: COVERED,
    TestGet: epochs('are recorded in a Lease per shard, which is made when it is missing'),
    TestRecordEventSuccess: NO_EVENTS,
    TestRecordEventNilRecorder: NO_EVENTS,
    TestCreateError: COVERED,
    TestUpdateError: COVERED,
    TestDescribe: epochs('are recorded in a Lease per shard, which is made when it is missing'),
    TestLeaseConversion: COVERED,
    TestUpdateWithNilLabelsOnLease: COVERED,
    TestUpdateWithNilLabelsOnLeaseLock: {
      skipped: 'the labels of a Lease are not an option: it always bears the one that says who manages it',
    },
    TestLabelUpdate: COVERED,
  },
};
