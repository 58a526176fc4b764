import type { Mutant } from './mutant.ts';

export const eventMutants: readonly Mutant[] = [
  {
    name: 'similar events are never told as one',
    file: 'src/events/event-correlator.ts',
    search: 'if (messages.size < AGGREGATED_FROM) return false;',
    replacement: 'if (messages.size > 0) return false;',
    test: 'TestEventAggregatorByReasonMessageFunc',
  },
  {
    name: 'events of different reasons are similar',
    file: 'src/events/event-correlator.ts',
    search: 'return JSON.stringify([sourceAndObjectKey(event), event.reason]);',
    replacement: 'return JSON.stringify([sourceAndObjectKey(event)]);',
    test: 'TestEventAggregatorByReasonFunc',
  },
  {
    name: 'the same event is created again',
    file: 'src/events/event-correlator.ts',
    search: 'isRepeated: counted.count > 1',
    replacement: 'isRepeated: counted.count < 1',
    test: 'TestEventf: ',
  },
  {
    name: 'two objects of one name share their events',
    file: 'src/events/event-correlator.ts',
    search: 'namespace, name, uid, apiVersion, type]);',
    replacement: 'namespace, name, apiVersion, type]);',
    test: 'TestEventf: ',
  },
  {
    name: 'there is no spam filter',
    file: 'src/events/event-correlator.ts',
    search: 'const isTaken = filled >= 1;',
    replacement: 'const isTaken = filled >= 0;',
    test: 'TestEventSpamFilter',
  },
  {
    name: 'the spam filter never lets in again',
    file: 'src/events/event-correlator.ts',
    search: '(now - bucket.filledAt) / REFILL_INTERVAL',
    replacement: '0 / REFILL_INTERVAL',
    test: 'TestEventSpamFilter',
  },
  {
    name: 'an event that has expired at the server is lost',
    file: 'src/events/event-recorder.ts',
    search: 'if (error instanceof NotFoundError) return false;',
    replacement: 'if (error instanceof NotFoundError) return true;',
    test: 'TestUpdateExpiredEvent',
  },
  {
    name: 'a refusal is tried again',
    file: 'src/events/event-recorder.ts',
    search: "if (!isUnheard) return 'Rejected';",
    replacement: '',
    test: 'TestWriteEventError: case giveUp1',
  },
  {
    name: 'an event without a namespace has none',
    file: 'src/events/event.ts',
    search: "namespace: namespace === '' ? 'default' : namespace }",
    replacement: 'namespace }',
    test: 'TestEventfNoNamespace',
  },
];
