import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { EventHandler } from '../../src/informers/index.ts';
import { UnreachableError } from '../../src/kubernetes/index.ts';
import { MemoryServer } from '../support/memory-server.ts';
import { failuresOfHandlers, namesIn, noting, prepare } from './following.ts';
import type { Following } from './following.ts';

let server: MemoryServer;

beforeEach(() => {
  vi.useFakeTimers();
  server = new MemoryServer();
});

afterEach(() => {
  vi.useRealTimers();
});

const pass = (milliseconds = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);

/** An informer that has synced with {@link server}. */
async function start(options: Parameters<typeof prepare>[1] = {}): Promise<Following> {
  const following = prepare(server, options);
  following.factory.start();
  await pass();
  return following;
}

/** What a handler has been told, as the names that it would hold. */
function mirror(): { readonly handler: EventHandler; readonly held: Map<string, string> } {
  const held = new Map<string, string>();
  const note = ({
    metadata,
  }: {
    readonly metadata: { readonly name?: string; readonly resourceVersion?: string };
  }): void => void held.set(metadata.name ?? '', metadata.resourceVersion ?? '');
  const handler: EventHandler = {
    onAdd: (object) => {
      expect(held.has(object.metadata.name ?? '')).toBe(false);
      note(object);
    },
    onUpdate: (previous, current) => {
      expect(held.get(previous.metadata.name ?? '')).toBe(previous.metadata.resourceVersion);
      note(current);
    },
    onDelete: ({ metadata }) => expect(held.delete(metadata.name ?? '')).toBe(true),
  };
  return { handler, held };
}

function versions(
  objects: Iterable<{ readonly metadata: { readonly name?: string; readonly resourceVersion?: string } }>,
): Record<string, string> {
  return Object.fromEntries([...objects].map(({ metadata }) => [metadata.name ?? '', metadata.resourceVersion ?? '']));
}

test('TestHammerController: after any changes, cuts and compactions, the store and what handlers were told equal the server', async () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const step = fc.oneof(
    { weight: 5, arbitrary: name.map((object) => (): void => void server.put(object)) },
    { weight: 3, arbitrary: name.map((object) => (): void => server.remove(object)) },
    { weight: 1, arbitrary: fc.constant((): void => server.cut()) },
    { weight: 1, arbitrary: fc.constant((): void => server.compact()) },
    {
      weight: 1,
      arbitrary: fc.constant((): void => void server.failures.push(new UnreachableError('gone', 'ECONNRESET'))),
    },
    { weight: 3, arbitrary: fc.nat(2000).map((milliseconds) => (): Promise<unknown> => pass(milliseconds)) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      server = new MemoryServer();
      const { factory, informer, log } = prepare(server);
      const { handler, held } = mirror();
      informer.addHandler(handler);
      factory.start();
      for (const act of steps) await act();
      await pass(120_000);
      expect(versions(informer.lister.list())).toEqual(versions(server.objects.values()));
      expect(Object.fromEntries(held)).toEqual(versions(server.objects.values()));
      expect(failuresOfHandlers(log)).toEqual([]);
      await factory.stop();
    }),
    { numRuns: 60 },
  );
});

test('TestUpdate: an object that is added, changed and deleted in any order of the three ends as it was left', async () => {
  const { informer, told } = await start();
  server.put('a');
  server.put('a');
  server.put('b');
  server.remove('a');
  server.put('b');
  await pass();
  expect(told).toEqual(['add a@11', 'update a@11 a@12', 'add b@13', 'delete a@14', 'update b@13 b@15']);
  expect(namesIn(informer)).toEqual(['b']);
});

test('TestReplaceEvents: a relist tells deletions first, then changes and additions, and nothing of what is the same', async () => {
  for (const name of ['same', 'changed', 'gone']) server.put(name);
  const { told } = await start();
  told.length = 0;
  server.compact();
  server.failures.push(new UnreachableError('gone', 'ECONNRESET'));
  server.cut();
  server.put('changed');
  server.remove('gone');
  server.put('new');
  server.compact();
  await pass(10_000);
  expect(told[0]).toMatch(/^delete gone@/);
  expect(told.slice(1).toSorted()).toEqual(['add new@16', 'update changed@12 changed@14']);
});

test('TestResetWatch: after a cut and an expired version, what happened meanwhile is told once', async () => {
  server.put('pod-1');
  const { told } = await start();
  expect(told).toEqual(['initial pod-1@11']);
  server.failures.push(new UnreachableError('gone', 'ECONNRESET'));
  server.cut();
  server.put('pod-2');
  server.put('pod-1');
  server.compact();
  await pass(10_000);
  expect(told.slice(1).toSorted()).toEqual(['add pod-2@12', 'update pod-1@11 pod-1@13']);
});

test('TestSharedInformerInitializationRace: a handler that is added while the initial list is told hears of each object once', async () => {
  for (const name of ['a', 'b', 'c']) server.put(name);
  const { factory, informer } = prepare(server);
  const told: string[] = [];
  let isFirst = true;
  informer.addHandler({
    onAdd: () => {
      if (isFirst) informer.addHandler(noting(told));
      isFirst = false;
    },
  });
  factory.start();
  await pass();
  expect(told.toSorted()).toEqual(['initial a@11', 'initial b@12', 'initial c@13']);
});

test('TestSharedInformerWatchDisruption: after a relist every handler has been told the same additions, changes and deletions', async () => {
  for (const name of ['pod1', 'pod2', 'pod3']) server.put(name);
  const { informer, told } = await start();
  const late: string[] = [];
  informer.addHandler(noting(late));
  told.length = 0;
  late.length = 0;
  server.failures.push(new UnreachableError('gone', 'ECONNRESET'));
  server.cut();
  server.put('pod2');
  server.remove('pod3');
  server.put('pod4');
  server.compact();
  await pass(10_000);
  expect(told).toEqual(late);
  expect(told.map((line) => line.replace(/@.*/, '')).toSorted()).toEqual(['add pod4', 'delete pod3', 'update pod2']);
});

test('TestSharedInformerErrorHandling: a failure shows in lastError, is counted and logged, and goes away with the next sign of life', async () => {
  const failure = new UnreachableError('gone', 'ECONNRESET');
  server.failures.push(failure);
  const { factory, failures, informer, log } = prepare(server);
  factory.start();
  await pass();
  expect(informer.lastError()).toBe(failure);
  expect(failures).toEqual(['UnreachableError']);
  expect(log.lines).toContainEqual(
    expect.objectContaining({ level: 'warn', fields: expect.objectContaining({ error: failure }) as unknown }),
  );
  await pass(800);
  expect(informer.lastError()).toBeUndefined();
  expect(informer.hasSynced()).toBe(true);
});

test('TestSharedInformerStartRace: starting twice runs one watch', async () => {
  const { factory } = prepare(server);
  factory.start();
  factory.start();
  await pass();
  expect(server.open).toBe(1);
});

test('TestSharedInformerRemoveHandler: a removed handler hears no more, the others go on', async () => {
  const { informer, told } = await start();
  const other: string[] = [];
  const registration = informer.addHandler(noting(other));
  server.put('a');
  await pass();
  registration.remove();
  server.put('b');
  await pass();
  expect(other).toEqual(['add a@11']);
  expect(told).toEqual(['add a@11', 'add b@12']);
});

test('TestSharedInformerMultipleRegistration: the same handler added twice is told twice, and removed one by one', async () => {
  const { informer } = await start();
  const told: string[] = [];
  const handler = noting(told);
  const first = informer.addHandler(handler);
  informer.addHandler(handler);
  server.put('a');
  await pass();
  expect(told).toEqual(['add a@11', 'add a@11']);
  first.remove();
  server.put('b');
  await pass();
  expect(told).toEqual(['add a@11', 'add a@11', 'add b@12']);
});

test('TestRemovingRemovedSharedInformer: removing again changes nothing', async () => {
  const { informer, told } = await start();
  const registration = informer.addHandler({});
  registration.remove();
  registration.remove();
  server.put('a');
  await pass();
  expect(told).toEqual(['add a@11']);
});

test('TestRemoveWhileActive: a handler may remove itself while it is told', async () => {
  server.put('a');
  server.put('b');
  const { informer } = await start();
  const told: string[] = [];
  const registration = informer.addHandler({
    onUpdate: (_previous, { metadata }) => {
      told.push(metadata.name ?? '');
      registration.remove();
    },
  });
  server.put('a');
  server.put('b');
  await pass();
  expect(told).toEqual(['a']);
});

test('TestAddWhileActive: a handler that comes late is told what there is, then what comes', async () => {
  server.put('a');
  const { informer } = await start();
  const told: string[] = [];
  const registration = informer.addHandler(noting(told));
  await pass();
  expect(registration.hasSynced()).toBe(true);
  server.put('b');
  await pass();
  expect(told).toEqual(['initial a@11', 'add b@12']);
});

test('TestStateSharedInformer: hasSynced turns true once and stays, whatever happens to the server', async () => {
  const { factory, informer } = prepare(server);
  const registration = informer.addHandler({});
  expect([informer.hasSynced(), registration.hasSynced()]).toEqual([false, false]);
  factory.start();
  await pass();
  expect([informer.hasSynced(), registration.hasSynced()]).toEqual([true, true]);
  server.failures.push(...Array.from({ length: 5 }, () => new UnreachableError('gone', 'ECONNREFUSED')));
  server.cut();
  await pass(5000);
  expect([informer.hasSynced(), registration.hasSynced()]).toEqual([true, true]);
});

test('TestRemoveOnStoppedSharedInformer: a handler can be removed from an informer that has stopped', async () => {
  const { factory, informer } = await start();
  const registration = informer.addHandler({});
  await factory.stop();
  expect(() => registration.remove()).not.toThrow();
});

test('TestShutdown: stopping leaves no watch and no timer', async () => {
  const { factory } = await start();
  expect(server.open).toBe(1);
  expect(vi.getTimerCount()).toBeGreaterThan(0);
  await factory.stop();
  expect(server.open).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('TestEventPanics: a handler that throws is logged, told the next event all the same, and disturbs no other', async () => {
  const { informer, log, told } = await start();
  let calls = 0;
  informer.addHandler({
    onAdd: () => {
      calls += 1;
      throw new Error('unforeseen');
    },
  });
  server.put('a');
  server.put('b');
  await pass(2000);
  expect(calls).toBe(2);
  expect(told).toEqual(['add a@11', 'add b@12']);
  const lines = log.lines.filter(({ message }) => message === 'event handler failed');
  expect(lines.map(({ level }) => level)).toEqual(['error', 'debug']);
});

test('TestListenerResyncPeriods: without a change all handlers are told again after the period, as updates of the same', async () => {
  server.put('pod1');
  const { informer, told } = await start({ resyncPeriod: 2000, random: () => 0.5 });
  const other: string[] = [];
  informer.addHandler(noting(other));
  await pass(2000);
  expect(told).toEqual(['initial pod1@11', 'update pod1@11 pod1@11']);
  expect(other).toEqual(['initial pod1@11', 'update pod1@11 pod1@11']);
});

test('TestMutationDetector: who changes a shared object is told so at once', async () => {
  server.put('a');
  const { informer } = await start();
  const object = informer.lister.get('a') as { kind: string; metadata: { name: string } };
  expect(() => (object.kind = 'Secret')).toThrow(TypeError);
  expect(() => (object.metadata.name = 'b')).toThrow(TypeError);
});
