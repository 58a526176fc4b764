import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../kernel/index.ts';
import { fenceObjects } from './fence.ts';
import { accountIn } from './member-account.ts';

function namesOf(namespace: string): string[] {
  const nameOf = ({ kind, metadata }: KubernetesObject): string =>
    `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
  return fenceObjects(accountIn(namespace)).map(nameOf);
}

describe('the fences of Atolls in two namespaces of a member', () => {
  it('have no object in common', () => {
    const second = new Set(namesOf('team-b'));
    expect(namesOf('team-a').filter((name) => second.has(name))).toEqual([]);
  });

  it('do not judge what the other’s tenants write: each knows its own epochs only', () => {
    const policy = JSON.stringify(fenceObjects(accountIn('team-a')).find(({ kind }) => kind.endsWith('Policy')));
    expect(policy).toContain("'team-a.atoll.dev/epoch' in request.userInfo.extra");
    expect(policy).not.toContain("'atoll.dev/epoch'");
  });
});
