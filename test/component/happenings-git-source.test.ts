import { describe, expect, it } from 'vitest';
import { GitSourceFixture, federatedManifest } from '../support/git-source-fixture.ts';

const git = GitSourceFixture.install();

function told(): string[] {
  return git.events.told.splice(0).map((text) => text.replace('GitSource apps ', ''));
}

describe('of a source is told', () => {
  it('each revision that was applied, why one was not, and that all is well again; no look by itself', async () => {
    await git.create();
    const first = await git.sync({ 'sessions.yaml': federatedManifest('sessions') });
    expect(told()).toEqual([`Normal RevisionApplied: applied revision ${first}`]);
    await git.reconcile();
    expect(told()).toEqual([]);

    await git.sync({ 'sessions.yaml': federatedManifest('sessions', { replicas: -3 }) });
    const [failure, ...others] = told();
    expect(others).toEqual([]);
    expect(failure).toMatch(/^Warning InvalidManifests: sessions\.yaml:8:\d+: .*\(kept revision main@sha1:/);
    await git.reconcile();
    expect(told()).toEqual([]);

    const third = await git.sync({ 'sessions.yaml': federatedManifest('sessions', { replicas: 3 }) });
    expect(told()).toEqual([
      `Normal RevisionApplied: applied revision ${third}`,
      `Normal Recovered: in order again, applied revision ${third}`,
    ]);
  });
});
