import { COVERED } from './verdict.ts';
import type { Checklist } from './verdict.ts';

/** What client-go and controller-runtime do not do, or do not test. */
export const beyondClientGo: Checklist = {
  'beyond client-go': {
    'Beyond/a malformed event ends the watch, is counted and answered by a list': COVERED,
    'Beyond/a page that fails takes nothing over': COVERED,
    'Beyond/a fall-back to pages is for one list': COVERED,
    'Beyond/a half-open connection is noticed': COVERED,
    'Beyond/a quiet watch is left alone while bookmarks come': COVERED,
    'Beyond/relists of many clusters spread by jitter': COVERED,
    'Beyond/full lists of a process are bounded': COVERED,
    'Beyond/a slow handler has a bounded buffer that coalesces by key': COVERED,
    'Beyond/unknown fields and long integers survive a round trip': {
      elsewhere: 'test/component/kubernetes-exactness.test.ts',
      test: 'are stored as they were sent, by apply and by create',
    },
    'Beyond/x-kubernetes extensions of a CRD survive a round trip': COVERED,
    'Beyond/a ClusterRole may have an upper-case name': COVERED,
    'Beyond/a 401 has the token read again, once': COVERED,
    'Beyond/a failing handler is no uncaught exception': COVERED,
    'Beyond/a write can be waited for in the cache by its resourceVersion': COVERED,
    'Beyond/a storage that was set back is noticed': COVERED,
    'Beyond/a plain-text 404 is no absence': COVERED,
    'Beyond/text that a YAML parser would change survives an apply': {
      elsewhere: 'test/component/kubernetes-exactness.test.ts',
      test: 'controls beyond ASCII',
    },
    'Beyond/a redirect is refused': COVERED,
    'Beyond/a 409 is told apart by its causes': COVERED,
    'Beyond/a 422 names the fields': COVERED,
    'Beyond/an apply that does not fit the schema is told from a server failure': COVERED,
    'Beyond/a terminating namespace is told from a missing right': COVERED,
    'Beyond/Retry-After is honoured': COVERED,
    'Beyond/a write is not sent again when its connection breaks': COVERED,
    'Beyond/a read is sent again once when its kept connection was closed': COVERED,
    'Beyond/an identity is never empty': COVERED,
    'Beyond/the guard is asked right before each sending': COVERED,
    'Beyond/an apply is sent as apply-patch': COVERED,
    'Beyond/a name cannot lead to another path': COVERED,
    'Beyond/an answer may not be larger than an object can be': COVERED,
    'Beyond/a delete names the UID': COVERED,
    'Beyond/a line of a watch may come in pieces': COVERED,
    'Beyond/exec credentials are not run': {
      skipped:
        'no credential program is ever run: kubeconfigs are read by an allow-list, see src/kubernetes/connection/kubeconfig.test.ts',
    },
    'Beyond/an informer ends with the last who asked for it': COVERED,
    'Beyond/an object that was recreated unseen is told as deletion and addition': COVERED,
    'Beyond/an event is written under a guard': COVERED,
    'Beyond/a MicroTime has six digits': COVERED,
    'Beyond/GOAWAY moves requests to a new session': COVERED,
    'Beyond/no session has more than 80 streams': COVERED,
    'Beyond/a leader whose event loop stalled does not write': {
      elsewhere: 'test/component/leadership.test.ts',
      test: 'throws first thing after the process was frozen, and for ever, though the shard is regained',
    },
    'Beyond/stringData and nulls are normalised before an apply': {
      elsewhere: 'src/apply/desired-object.test.ts',
      test: "folds a Secret's stringData into data, where it wins",
    },
  },
};
