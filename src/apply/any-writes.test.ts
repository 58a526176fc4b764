import { array, assert, boolean, constantFrom, oneof, option, property, record, uniqueArray } from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import { decideApply } from './apply-decision.ts';
import type { Decision } from './apply-decision.ts';
import { APPLIED_HASH_ANNOTATION, wantedObject } from './desired-object.ts';
import { FIELD_MANAGERS } from './field-holders.ts';

const APPLIED = '2026-01-01T00:00:10Z';

// A server of flat maps: who changes a value owns it alone, who applies what is there shares it.

type Key = 'a' | 'b' | 'c';
type Data = Partial<Record<Key, string>>;
interface Owned {
  readonly data: Data;
  readonly owners: Readonly<Record<string, readonly Key[]>>;
  readonly hash: string | undefined;
}
type Write =
  | { readonly by: 'kubectl-edit' | 'controller'; readonly key: Key; readonly value: string | undefined }
  | { readonly by: 'rival'; readonly data: Data; readonly force: boolean };

const KEYS: readonly Key[] = ['a', 'b', 'c'];
const WANTED: Data = { a: 'git', b: 'git', c: 'git' };

function given(owned: Owned, manager: string, key: Key, value: string | undefined): Owned {
  if (owned.data[key] === value) return owned;
  const owners = Object.fromEntries(
    Object.entries(owned.owners).map(([name, keys]) => [name, keys.filter((other) => other !== key)]),
  );
  const mine = value === undefined ? (owners[manager] ?? []) : [...(owners[manager] ?? []), key];
  const { [key]: _former, ...others } = owned.data;
  return {
    ...owned,
    data: value === undefined ? others : { ...others, [key]: value },
    owners: { ...owners, [manager]: mine },
  };
}

/** @returns undefined when the apply conflicts */
function applied(owned: Owned, manager: string, data: Data, force: boolean): Owned | undefined {
  const others = Object.entries(owned.owners).filter(([name]) => name !== manager);
  const isHeld = (key: Key): boolean => others.some(([, keys]) => keys.includes(key));
  const wanted = KEYS.filter((key) => data[key] !== undefined);
  if (!force && wanted.some((key) => data[key] !== owned.data[key] && isHeld(key))) return undefined;
  const dropped = (owned.owners[manager] ?? []).filter((key) => !wanted.includes(key) && !isHeld(key));
  const without = dropped.reduce((state, key) => given(state, manager, key, undefined), owned);
  const written = wanted.reduce((state, key) => given(state, manager, key, data[key]), without);
  return { ...written, owners: { ...written.owners, [manager]: wanted } };
}

function asObject({ data, owners, hash }: Owned): KubernetesObject {
  const annotation = { 'f:annotations': { [`f:${APPLIED_HASH_ANNOTATION}`]: {} } };
  const managedFields = Object.entries(owners).map(([manager, keys]): ManagedFieldsEntry => {
    const isApply = manager === 'atoll' || manager === 'rival';
    const fields = { 'f:data': Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) };
    return {
      manager,
      operation: isApply ? 'Apply' : 'Update',
      apiVersion: 'v1',
      time: APPLIED,
      fieldsV1: manager === 'atoll' ? { ...fields, 'f:metadata': annotation } : fields,
    };
  });
  const annotations = hash === undefined ? {} : { [APPLIED_HASH_ANNOTATION]: hash };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'it', uid: 'u', annotations, managedFields }, data };
}

function decideOn(owned: Owned): Decision {
  return decideApply({
    wanted: wantedObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'it' }, data: WANTED }),
    live: asObject(owned),
    fieldManager: 'atoll',
    managers: FIELD_MANAGERS,
    force: false,
    adopting: false,
    conflicts: [],
    isFlipping: () => false,
    isUsual: () => false,
  });
}

const value = constantFrom('git', 'x', 'y');
const write: Arbitrary<Write> = oneof(
  record({
    by: constantFrom('kubectl-edit' as const, 'controller' as const),
    key: constantFrom(...KEYS),
    value: option(value, { nil: undefined }),
  }),
  record({
    by: constantFrom('rival' as const),
    data: uniqueArray(constantFrom(...KEYS)).chain((keys) =>
      value.map((text): Data => Object.fromEntries(keys.map((key) => [key, text]))),
    ),
    force: boolean(),
  }),
);

describe('for any writes of others', () => {
  it('one apply settles an object, is never refused, and takes nothing from anybody but people', () => {
    assert(
      property(array(write, { maxLength: 12 }), (writes: readonly Write[]) => {
        let state = applyOurs({ data: {}, owners: {}, hash: undefined });
        for (const next of writes) {
          state =
            next.by === 'rival'
              ? (applied(state, 'rival', next.data, next.force) ?? state)
              : given(state, next.by, next.key, next.value);
          const before = state;
          state = applyOurs(state);
          for (const manager of ['controller', 'rival']) {
            for (const key of before.owners[manager] ?? []) expect(state.data[key]).toBe(before.data[key]);
          }
          expect(decideOn(state).action).toBe('none');
        }
      }),
    );
  });
});

/** What our decision makes of a state; it must be one that the server takes. */
function applyOurs(state: Owned): Owned {
  const decision = decideOn(state);
  if (decision.action !== 'apply') return state;
  const data = decision.body['data'] as Data | undefined;
  const written = applied(state, 'atoll', data ?? {}, decision.force);
  if (written === undefined) throw new Error(`refused: ${JSON.stringify({ state, decision })}`);
  return { ...written, hash: decision.body.metadata.annotations?.[APPLIED_HASH_ANNOTATION] };
}
