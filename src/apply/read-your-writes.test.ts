import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../kernel/index.ts';
import { ReadYourWrites } from './read-your-writes.ts';

function object(uid: string, resourceVersion: string): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid, resourceVersion } };
}

describe('ReadYourWrites', () => {
  it('answers with what was written until the informer has caught up', () => {
    const writes = new ReadYourWrites();
    const written = object('u', '10');
    writes.remember(written);
    expect(writes.newest(object('u', '9'))).toBe(written);
    const caughtUp = object('u', '10');
    expect(writes.newest(caughtUp)).toBe(caughtUp);
  });

  it('compares versions as numbers', () => {
    const writes = new ReadYourWrites();
    const written = object('u', '100');
    writes.remember(written);
    expect(writes.newest(object('u', '99'))).toBe(written);
  });

  it('never hides that an object is gone or replaced', () => {
    const writes = new ReadYourWrites();
    writes.remember(object('u', '10'));
    expect(writes.newest(undefined)).toBeUndefined();
    const successor = object('v', '5');
    expect(writes.newest(successor)).toBe(successor);
  });
});
